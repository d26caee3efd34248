"""Checks of configurations that an engine makes of its arguments: found where it makes them, and only certain ones end a bump."""

import pytest

from bot.model.uses import Uses
from bot.upstream.options import checked, surveyed
from tests.fakes.upstreams import SurveyorHere
from tests.upstream.options.test_options import ENGINE, added, look, option, tree

ADDED = added('"--tp", type=int, default=1', '"--dcp", type=int, default=1', '"--fast", action="store_true"', '"--odd", type=int')
HANDED = "tp=self.tp, dcp=self.dcp"
REFUSES = "if self.dcp > 1 and self.tp < 4:\n    raise ValueError('dcp needs tp')"
SET = (option("--tp", "2"), option("--dcp", "2"))
FITS = (option("--tp", "4"), option("--dcp", "2"))


def indented(text, by=8):
    return "".join(f"{' ' * by}{line}\n" for line in text.split("\n"))


def args(made=f"return ParallelConfig({HANDED})", method="create_engine_config", head="from e.config.parallel import ParallelConfig\n",
         cls="EngineArgs", also=""):
    """A parser with plain options, and a class of arguments that makes a configuration."""
    return f"{head}{ADDED}class {cls}:\n    tp: int = 1\n    dcp: int = 1\n    def {method}(self):\n{indented(made)}{also}"


def config(body=REFUSES, method="__post_init__", mark="", fields="    tp: int = 1\n    dcp: int = 1\n", takes="self", also=""):
    return (f"from dataclasses import dataclass\n@dataclass\nclass ParallelConfig:\n{fields}{mark and f'    @{mark}'}\n"
            f"    def {method}({takes}):\n{indented(body)}{also}")


def ends(now, *used, parser=None, before=None, **more):
    """(what, certain) of each check of the new configuration that ends the start."""
    parser = parser or args()
    old = tree(parser, config__parallel=before or config("pass"), **more)
    found = look(old, tree(parser, config__parallel=now, **more), *used)
    return [(one.what, one.certain) for one in found if one.what == "guard"]


class TestAConfiguration:
    @pytest.mark.parametrize("now", [
        config(), config(mark='model_validator(mode="after")', method="_check"), config(also="    x = 1\n"),
        config("self.check()", also=f"    def check(self):\n{indented(REFUSES)}"),
        config("super().__post_init__()").replace("class ParallelConfig:", f"class Base:\n    def __post_init__(self):\n"
               f"{indented(REFUSES)}@dataclass\nclass ParallelConfig(Base):"),
        config("self.ranks = self.tp // self.dcp\nif self.ranks < 2:\n    raise ValueError('few')"),
        config("self.tp = tp\nself.dcp = dcp\n" + REFUSES, method="__init__", takes="self, tp, dcp", fields=""),
        config("if dcp > 1 and tp < 4:\n    raise ValueError('x')", method="__init__", takes="self, tp, dcp", fields=""),
        config("if value < 4:\n    raise ValueError('x')\nreturn value", method="_few", mark='field_validator("tp")', takes="cls, value")])
    def test_that_refuses_what_the_arguments_hand_it_is_certain(self, now):
        assert ends(now, *SET) == [("guard", True)]
        assert ends(now, *FITS) == []
        assert ends(now, *SET, before=now) == []

    @pytest.mark.parametrize("made", [
        "cfg = ParallelConfig(self.tp, self.dcp)\nreturn cfg", "return ParallelConfig(**vars(self))", "return self.parallel()",
        "return ParallelConfig(**{one: getattr(self, one) for one in names})", "return ParallelConfig.from_args(self)",
        f"if self.dcp > 1:\n    return ParallelConfig({HANDED})\nreturn None"])
    def test_is_found_however_it_is_made(self, made):
        also = f"    def parallel(self):\n        return ParallelConfig({HANDED})\n"
        now = config(also="    @classmethod\n    def from_args(cls, args):\n        return cls(tp=args.tp, dcp=args.dcp)\n")
        assert ends(now, *SET, parser=args(made, also=also), before=now.replace("raise", "print")) == [("guard", True)]
        assert ends(now, *FITS, parser=args(made, also=also), before=now.replace("raise", "print")) == []

    @pytest.mark.parametrize("parser", [
        f"from e.config.parallel import ParallelConfig\n{ADDED}def create_config(args):\n    return ParallelConfig(tp=args.tp, dcp=args.dcp)\n",
        f"from e.config.parallel import ParallelConfig\n{ADDED}def main():\n    args = add(argparse.ArgumentParser()).parse_args()\n"
        "    ParallelConfig(tp=args.tp, dcp=args.dcp)\n",
        f"from e.config.parallel import ParallelConfig\n{ADDED}def main(argv):\n    args, rest = add(P()).parse_known_args(argv)\n"
        "    ParallelConfig(tp=args.tp, dcp=args.dcp)\n"])
    def test_is_found_where_a_function_makes_it_of_what_was_parsed(self, parser):
        assert ends(config(), *SET, parser=parser) == [("guard", True)]
        assert ends(config(), *FITS, parser=parser) == []

    @pytest.mark.parametrize("made", [
        "check_parallel(self.tp, self.dcp)", f"cfg = ParallelConfig({HANDED})\ncheck(cfg)",
        f"cfg = ParallelConfig({HANDED})\ncfg.verify()",
        f"parallel_config = ParallelConfig({HANDED})\nif parallel_config.dcp > 1 and parallel_config.tp < 4:\n    raise ValueError('x')"])
    def test_is_checked_by_whom_it_is_handed_to(self, made):
        head = "from e.config.parallel import ParallelConfig, check, check_parallel\n"
        beside = ("def check_parallel(tp, size):\n    if size > 1 and tp < 4:\n        raise ValueError('x')\n"
                  "def check(it):\n    if it.dcp > 1 and it.tp < 4:\n        raise ValueError('x')\n")
        now = config("pass", also=f"    def verify(self):\n{indented(REFUSES)}") + beside
        old = now.replace("raise ValueError", "print")
        parser = args(made, head=head)
        was = parser.replace("raise ValueError", "print")
        for used, said in ((SET, [("guard", True)]), (FITS, [])):
            found = look(tree(was, config__parallel=old), tree(parser, config__parallel=now), *used)
            assert [(one.what, one.certain) for one in found if one.what == "guard"] == said

    def test_of_another_is_reached_through_it(self):
        whole = ("from e.config.parallel import ParallelConfig\nclass EngineConfig:\n    parallel_config: ParallelConfig = None\n"
                 "    def __post_init__(self):\n        if self.parallel_config.dcp > 1 and self.parallel_config.tp < 4:\n"
                 "            raise ValueError('x')\n")
        parser = args(f"cfg = ParallelConfig({HANDED})\nreturn EngineConfig(parallel_config=cfg)",
                      head="from e.config.parallel import ParallelConfig\nfrom e.config.whole import EngineConfig\n")
        for used, said in ((SET, [True]), (FITS, [])):
            old, new = (tree(parser, config__parallel=config("pass"), config__whole=text)
                        for text in (whole.replace("raise ValueError", "print"), whole))
            assert [one.certain for one in look(old, new, *used) if one.what == "guard"] == said


class TestNobodyCanTell:
    @pytest.mark.parametrize("made", [
        "return ParallelConfig(tp=self.tp, dcp=rounded(self.dcp))", "return ParallelConfig(tp=self.tp, **more)",
        f"for one in self.parts:\n    ParallelConfig({HANDED})", f"if strange():\n    return ParallelConfig({HANDED})",
        f"try:\n    return ParallelConfig({HANDED})\nexcept ValueError:\n    return None",
        f"if strange():\n    self.dcp = 1\nreturn ParallelConfig({HANDED})",
        "if strange():\n    size = 1\nelse:\n    size = self.dcp\nreturn ParallelConfig(tp=self.tp, dcp=size)",
        f"return ParallelConfig({HANDED}) if strange() else ParallelConfig(tp=8, dcp=1)", "return ParallelConfig(*self.parts)"])
    def test_what_the_configuration_is_made_of(self, made):
        assert ends(config(), *SET, parser=args(made)) == []

    @pytest.mark.parametrize("body", [
        f"self.dcp = 1\n{REFUSES}", f"if strange():\n    self.dcp = 1\n{REFUSES}", f"self.fix()\n{REFUSES}",
        "try:\n    raise ValueError('x')\nexcept ValueError:\n    self.dcp = 1"])
    def test_what_it_holds_after_it_was_changed(self, body):
        assert ends(config(body, also="    def fix(self):\n        self.dcp = self.dcp - 1\n"), *SET) == []

    def test_which_of_two_classes_of_one_name_is_meant(self):
        assert ends(config(), *SET, config__other=config("if self.tp > 64:\n    raise ValueError('y')")) == []

    def test_whether_a_class_is_ever_made(self):
        assert ends(config(), *SET, parser=args("return None")) == []
        assert ends(config(), *SET, parser=args(method="sometimes")) == []

    def test_what_a_default_decides(self):
        now = config("if self.tp > 1 and self.dcp == 1:\n    raise ValueError('x')")
        assert ends(now, option("--tp", "2"), parser=args("return ParallelConfig(tp=self.tp)")) == [("guard", False)]
        assert ends(now, option("--tp", "2")) == [("guard", False)]

    def test_a_value_that_only_the_run_knows(self):
        assert ends(config(), option("--tp", "2"), option("--dcp", None)) == []
        assert ends(config(), option("--tp", "2"), option("--dcp", "2", conditional=True)) == []


class TestWhatWasLookedAt:
    def counts(self, now, *used, parser=None):
        survey = surveyed(tree(parser or args(), config__parallel=now), ENGINE, SurveyorHere().survey)
        found = checked(Uses(engine="e", options=used), "e", ENGINE, None, survey)
        return found.decided, found.checks

    def test_counts_each_check_of_a_configuration(self):
        assert self.counts(config(), *SET) == (1, 1)
        assert self.counts(config(), *FITS) == (1, 1)

    def test_counts_none_that_nobody_followed(self):
        assert self.counts(config(), *SET, parser=args("return None")) == (0, 1)
        assert self.counts(config("if strange():\n    raise ValueError('x')"), *SET) == (0, 1)

    def test_of_what_is_certainly_not_done_is_decided(self):
        assert self.counts(config(), *SET, parser=args(f"if self.tp > 2:\n    return ParallelConfig({HANDED})")) == (1, 1)
