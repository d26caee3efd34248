"""What an engine does with what a recipe passes, over small trees of the shapes that real engines have."""

import pytest

from bot.model.uses import Used, Uses, Written
from bot.rehearse.told import TreeTold
from bot.upstream.engines import Engine
from bot.upstream.options import checked, surveyed
from tests.fakes.upstreams import SurveyorHere

ENGINE = Engine(repositories=("o/e",), module="e", package="e", folder="src", parsers=("e/args.py",), environment=("e/envs.py",),
                checks=("e/config/",), prefixes=("E_", "OLD_"), renamed={"OLD_": "E_"}, keys=("e_config",))


def tree(args, **others):
    """A source tree with this parser file; other files by their name below `e`, `__` for a slash, INIT for the package's own."""
    files = {f"src/e/{name.replace('__', '/').replace('INIT', '__init__')}.py": text for name, text in others.items()}
    return TreeTold({"src/e/__init__.py": "", "src/e/args.py": args, **files})


def option(name, value=None, **more):
    return Used(kind="option", name=name, value=value, at=Written(file="r.yaml", line=3), **more)


def variable(name):
    return Used(kind="environment", name=name, value="1", at=Written(file="r.yaml", line=9))


def look(old, new, *used, unreadable=(), **more):
    """Everything that changed, as `what name`."""
    survey = SurveyorHere(unreadable).survey
    before = surveyed(old, ENGINE, SurveyorHere().survey) if old else None
    uses = Uses(engine="e", options=tuple(one for one in used if one.kind == "option"),
                environment=tuple(one for one in used if one.kind == "environment"))
    return checked(uses, "e", ENGINE, before, surveyed(new, ENGINE, survey), **more).changed


def words(changed):
    return [f"{one.what} {one.used.name}" for one in changed]


def added(*lines):
    return "import argparse\ndef add(parser):\n" + "".join(f"    parser.add_argument({line})\n" for line in lines)


class TestAnOption:
    OLD = added('"--max-bs", type=int, help="The largest batch that graphs are made for."', '"--seed", type=int')

    def test_that_is_there_says_nothing(self):
        assert look(tree(self.OLD), tree(self.OLD), option("--max-bs", "3")) == ()

    def test_that_is_gone_is_removed(self):
        (found,) = look(tree(self.OLD), tree(added('"--seed"')), option("--max-bs", "3"))
        assert (found.what, found.old, found.new, found.at) == ("removed", "--max-bs", None, "e/args.py:3")

    def test_of_the_same_destination_or_help_is_renamed(self):
        same = added('"--largest", dest="max_bs"')
        alike = added('"--top", help="The largest batch that graphs are made for."')
        for now, name in ((same, "--largest"), (alike, "--top")):
            (found,) = look(tree(self.OLD), tree(now), option("--max-bs", "3"))
            assert (found.what, found.new, found.works) == ("renamed", name, False)

    def test_that_became_the_beginning_of_two_is_ambiguous(self):
        (found,) = look(tree(self.OLD), tree(added('"--max-bs-decode"', '"--max-bs-prefill"')), option("--max-bs", "3"))
        assert (found.what, found.candidates) == ("ambiguous", ("--max-bs-decode", "--max-bs-prefill"))

    def test_that_is_the_beginning_of_one_still_works(self):
        (found,) = look(tree(self.OLD), tree(added('"--max-bs-decode"')), option("--max-bs", "3"))
        assert (found.what, found.new, found.works) == ("renamed", "--max-bs-decode", True)

    def test_is_not_shortened_where_the_parser_refuses_that(self):
        now = "import argparse\np = argparse.ArgumentParser(allow_abbrev=False)\n" + added('"--max-bs-decode"')
        assert words(look(tree(self.OLD), tree(now), option("--max-bs", "3"))) == ["removed --max-bs"]

    def test_is_not_shortened_by_a_library_that_takes_no_beginnings(self):
        old, now = (f'import click\n@click.option("{name}")\ndef serve(x): ...\n' for name in ("--max-bs", "--max-bs-decode"))
        assert words(look(tree(old), tree(now), option("--max-bs", "3"))) == ["removed --max-bs"]

    def test_that_is_deprecated_and_kept_works_on(self):
        now = added('"--max-bs", action=DeprecatedAliasStoreAction, new_flag="--top", dest="top"', '"--top"')
        (found,) = look(tree(self.OLD), tree(now), option("--max-bs", "3"))
        assert (found.what, found.new, found.works) == ("renamed", "--top", True)

    def test_that_ends_the_start_by_its_own_message_is_removed(self):
        now = added('"--max-bs", action=DeprecatedAction, error_message="--max-bs is no longer supported."')
        assert words(look(tree(self.OLD), tree(now), option("--max-bs", "3"))) == ["removed --max-bs"]

    def test_missing_in_both_is_no_change(self):
        assert words(look(tree(self.OLD), tree(self.OLD), option("--other"))) == ["missing --other"]

    def test_of_the_program_in_front_is_none_of_the_engines(self):
        assert look(tree(self.OLD), tree(self.OLD), option("--connector", "x", program="dynamo.e")) == ()

    def test_counts_dashes_and_underscores_as_one(self):
        assert look(tree(self.OLD), tree(self.OLD), option("--max_bs", "3")) == ()

    def test_loses_a_choice(self):
        old, new = (added(f'"--kind", choices={choices}') for choices in ('["a", "b"]', '["a", "c"]'))
        (found,) = look(tree(old), tree(new), option("--kind", "b"))
        assert (found.what, found.old, found.candidates) == ("choice", "b", ("a", "c"))


class TestNobodyKnows:
    OLD = added('"--max-bs"')

    def test_what_a_parser_says_that_cannot_be_read(self):
        assert words(look(tree(self.OLD), tree("def ("), option("--max-bs"))) == ["unread --max-bs"]

    def test_which_options_are_made_at_run_time(self):
        now = "def add(parser, names):\n    for name in names():\n        parser.add_argument(name)\n"
        assert words(look(tree(self.OLD), tree(now), option("--max-bs"))) == ["unread --max-bs"]

    def test_what_another_file_does_with_the_name(self):
        now = tree(added('"--seed"'), moved='FLAGS = ["--max-bs"]\n')
        assert words(look(tree(self.OLD), now, option("--max-bs"))) == ["unread --max-bs"]

    def test_what_the_old_engine_knew_without_its_tree(self):
        assert words(look(None, tree(self.OLD), option("--other"))) == ["unread --other"]

    def test_a_parser_that_is_not_where_it_was(self):
        assert words(look(tree(self.OLD), TreeTold({"src/e/__init__.py": "", "src/e/x.py": ""}), option("--max-bs"))) == [
            "unread --max-bs"]


class TestShapes:
    FIELDS = ("from typing import Annotated as A\nfrom dataclasses import dataclass\nfrom e.lib import add_fields\n@dataclass\n"
              "class Args:\n    max_bs: A[int, 'help'] = 3\n    tp_size: A[int, Arg(help='x', aliases=['--tp'])] = 1\n"
              "    hidden: int = 0\n    on: A[bool, 'x'] = False\ndef add(parser):\n    add_fields(parser, Args)\n")
    LIB = "def add_fields(parser, cls):\n    for f in fields(cls):\n        parser.add_argument('--' + f.name, default=f.default)\n"

    def test_of_annotated_fields_become_options(self):
        found = surveyed(tree(self.FIELDS, lib=self.LIB), ENGINE, SurveyorHere().survey)
        assert set(found.options) == {"--max-bs", "--tp-size", "--tp", "--on"}
        assert found.option("--max-bs").default == (3,)
        assert found.option("--on").switch
        assert found.open == ()

    def test_of_a_configuration_class_are_followed_through_packages(self):
        args = ("from e.config import Cache\ndef add(parser):\n    kw = get_kwargs(Cache)\n    g = parser.add_argument_group('x')\n"
                "    g.add_argument('--kv', **kw['kv'])\n    g.add_argument('--pre', **{**kw['pre'], 'default': None})\n")
        found = surveyed(tree(args, config__INIT="from e.config.cache import Cache\n",
                              config__cache="class Cache:\n    kv: Literal['a', 'b'] = 'a'\n    pre: bool = True\n"),
                         ENGINE, SurveyorHere().survey)
        assert (found.option("--kv").default, found.option("--kv").choices) == (("a",), ("a", "b"))
        assert (found.option("--pre").default, found.option("--no-pre")) == ((None,), found.option("--pre"))

    def test_of_loops_over_lists_and_of_click_are_read(self):
        args = ("for name in ('one', 'two'):\n    parser.add_argument(f'--{name}-size')\n"
                "@click.option('--ep_size', type=int, default=2)\ndef serve(ep_size): ...\n")
        found = surveyed(tree(args), ENGINE, SurveyorHere().survey)
        assert set(found.options) == {"--one-size", "--two-size", "--ep-size"}
        assert found.option("--ep-size").default == (2,)

    def test_of_a_wheel_are_those_of_the_sources(self):
        wheel = TreeTold({"e/__init__.py": "", "e/args.py": added('"--x"')})
        assert set(surveyed(wheel, ENGINE, SurveyorHere().survey).options) == {"--x"}


class TestADefault:
    def test_of_memory_that_the_recipe_leaves_to_the_engine_is_told(self):
        old, new = (added(f'"--mem-fraction-static", default={value}', '"--seed", default=1') for value in (0.8, 0.9))
        (found,) = look(tree(old), tree(new))
        assert (found.what, found.used.name, found.old, found.new) == ("default", "--mem-fraction-static", "0.8", "0.9")

    def test_that_the_recipe_sets_itself_is_not(self):
        old, new = (added(f'"--mem-fraction-static", default={value}') for value in (0.8, 0.9))
        assert look(tree(old), tree(new), option("--mem-fraction-static", "0.7")) == ()

    GRAPHS = ("from dataclasses import dataclass, field\nclass Backend:\n    A = 'piecewise'\n    B = 'breakable'\n"
              "def default_prefill_backend():\n    return Backend.B if is_cuda() else Backend.A\n"
              "@dataclass\nclass Phase:\n    backend: str = Backend.A\n@dataclass\nclass GraphConfig:\n"
              "    prefill: Phase = field(default_factory=lambda: Phase(backend={}))\n")

    @pytest.mark.parametrize(("vendor", "said"), [("cuda", ["default --graph-config.prefill.backend"]), ("rocm", []), ("", [])])
    def test_that_depends_on_the_platform_is_that_of_the_recipe(self, vendor, said):
        args = "from e.graphs import GraphConfig\n@dataclass\nclass Args:\n    g: GraphConfig = None\n" + added('"--graph-config"')
        old = tree(args.replace("g: GraphConfig = None", "g: str = GraphConfig.prefill"), graphs=self.GRAPHS.format("Backend.A"))
        new = tree(args.replace("g: GraphConfig = None", "g: str = GraphConfig.prefill"),
                   graphs=self.GRAPHS.format("default_prefill_backend()"))
        assert words(look(old, new, vendor=vendor)) == said

    def test_behind_json_is_the_recipes_where_it_sets_that_key(self):
        args = "from e.graphs import GraphConfig\n@dataclass\nclass Args:\n    g: str = GraphConfig.prefill\n" + added('"--graph-config"')
        old, new = (tree(args, graphs=self.GRAPHS.format(value)) for value in ("Backend.A", "Backend.B"))
        assert look(old, new, option("--graph-config", '{"prefill": {"backend": "piecewise"}}')) == ()
        assert len(look(old, new, option("--graph-config", '{"decode": {}}'))) == 1


class TestAVariable:
    def test_that_is_read_no_more_is_told_with_its_place(self):
        old = tree("", envs='environment_variables = {"E_NEW": 1, "E_OLD": lambda: os.getenv("E_OLD")}\n')
        (found,) = look(old, tree("", envs='environment_variables = {"E_NEW": 1}\n'), variable("E_OLD"), variable("E_NEW"))
        assert (found.what, found.used.name, found.at) == ("removed", "E_OLD", "e/envs.py:1")

    def test_that_is_read_anywhere_is_there(self):
        old = tree("", envs="class Envs:\n    E_OLD = EnvInt(1)\n")
        assert look(old, tree("", envs="", deep='os.environ.get("E_OLD")\n'), variable("E_OLD")) == ()

    def test_of_somebody_else_is_not_asked_for(self):
        assert look(tree("", envs=""), tree("", envs=""), variable("NCCL_DEBUG")) == ()

    def test_under_its_older_name_is_the_one_that_the_engine_makes_of_it(self):
        """`SGL_ENABLE_JIT_DEEPGEMM` was said to be known to neither engine, and dropping it would have switched DeepGEMM on."""
        there, gone = tree("", envs='environment_variables = {"E_JIT": 1}\n'), tree("", envs="environment_variables = {}\n")
        assert look(there, there, variable("OLD_JIT")) == ()
        assert words(look(there, gone, variable("OLD_JIT"))) == ["removed OLD_JIT"]
        assert words(look(gone, gone, variable("OLD_JIT"))) == ["missing OLD_JIT"]

    def test_is_unknown_where_a_file_cannot_be_read(self):
        old = tree("", envs="class Envs:\n    E_OLD = EnvInt(1)\n")
        new = tree("", envs="", broken="x = 1\n")
        assert words(look(old, new, variable("E_OLD"), unreadable=("broken.py",))) == ["unread E_OLD"]


class TestTheCommit:
    def test_is_asked_for_by_the_name_in_the_file_where_it_was(self):
        asked = []
        look(tree(added('"--max-bs"')), tree(added('"--seed"')), option("--max-bs"),
             touched=lambda path, text: asked.append((path, text)))
        assert asked == [("src/e/args.py", "--max-bs")]
