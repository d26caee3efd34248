"""Checks of the engine that refuse a recipe's settings: only what is certain ends a bump, and unknown is neither yes nor no."""

import pytest

from bot.model.upstream import Commit
from tests.upstream.options.test_options import added, look, option, tree

ARGS = added('"--method"', '"--dcp", type=int, default=1', '"--fast", action="store_true"', '"--spec-config"', '"--size", type=int')


def guarded(body, name="__post_init__", also="", cls="Args"):
    """A class of arguments with a check."""
    lines = "".join(f"        {line}\n" for line in body.split("\n"))
    return f"{ARGS}class {cls}:\n    def {name}(self):\n{lines}{also}"


def ends(body, *used, old=ARGS, **more):
    """(what, certain) of each check that ends the start."""
    changed = look(tree(old), tree(guarded(body, **more) if not body.startswith("import") else body), *used)
    return [(one.what, one.certain) for one in changed if one.what == "guard"]


REFUSES = 'if self.method == "draft" and self.dcp > 1:\n    raise ValueError("not together")'


class TestACheck:
    def test_that_refuses_what_the_recipe_sets_is_certain(self):
        assert ends(REFUSES, option("--method", "draft"), option("--dcp", "8")) == [("guard", True)]

    @pytest.mark.parametrize("used", [
        [("--method", "other"), ("--dcp", "8")], [("--method", "draft"), ("--dcp", "1")], [("--method", "draft")], []])
    def test_says_nothing_of_settings_that_it_takes(self, used):
        assert ends(REFUSES, *(option(*one) for one in used)) == []

    def test_that_was_there_before_ended_nothing(self):
        assert ends(REFUSES, option("--method", "draft"), option("--dcp", "8"), old=guarded(REFUSES)) == []

    def test_that_rests_on_a_default_may_raise(self):
        body = 'if self.method == "draft" and self.dcp == 1:\n    raise ValueError("needs more")'
        assert ends(body, option("--method", "draft")) == [("guard", False)]

    def test_asserts(self):
        assert ends("assert self.dcp % 2 == 0, 'even'", option("--dcp", "3")) == [("guard", True)]
        assert ends("assert self.dcp % 2 == 0, 'even'", option("--dcp", "4")) == []

    def test_is_passed_by_where_the_function_returns_before(self):
        assert ends('if self.fast:\n    return\nif self.dcp > 1:\n    raise ValueError("x")',
                    option("--fast"), option("--dcp", "8")) == []

    def test_is_reached_through_calls_that_are_sure(self):
        also = "    def _check(self):\n        if self.dcp > 1:\n            raise ValueError('x')\n"
        assert ends("self._check()", option("--dcp", "8"), also=also) == [("guard", True)]
        assert ends("if unknown():\n    self._check()", option("--dcp", "8"), also=also) == []

    def test_of_a_function_that_nobody_calls_ends_nothing(self):
        assert ends(REFUSES, option("--method", "draft"), option("--dcp", "8"), name="sometimes") == []


class TestTheCommit:
    OLD = guarded('if self.dcp % 1 != 0:\n    raise ValueError("uneven")')

    def asked(self, now, knows):
        """The commit that is told for a check, where history knows only the texts that hold this."""
        (found,) = [one for one in look(tree(self.OLD), tree(now), option("--dcp", "2"),
                                        touched=lambda path, text: Commit(sha=path, title=text, date="") if knows in text else None)]
        return (found.commit.sha, found.commit.title) if found.commit else None

    def test_of_another_condition_under_the_old_message_is_that_of_the_condition(self):
        now = self.OLD.replace("% 1", "% 4")
        assert self.asked(now, "% 4") == ("src/e/args.py", "if self.dcp % 4 != 0:")
        assert self.asked(now, "nothing") is None

    def test_of_an_old_condition_with_another_message_is_that_of_the_message(self):
        now = self.OLD.replace("% 1", "% 4").replace("uneven", "more")
        assert self.asked(now, "more") == ("src/e/args.py", "more")

    def test_of_an_assertion_is_that_of_its_line(self):
        assert self.asked(guarded("assert self.dcp % 4 == 0, 'x'"), "% 4") == ("src/e/args.py", "assert self.dcp % 4 == 0, 'x'")


class TestNobodyCanTell:
    SET = (option("--method", "draft"), option("--dcp", "8"))

    @pytest.mark.parametrize("test", ["self.model.is_odd", "current_platform.is_odd()", "len(os.listdir()) > 2", "self.unheard_of"])
    def test_what_no_setting_says(self, test):
        assert ends(f'if self.dcp > 1 and {test}:\n    raise ValueError("x")', *self.SET) == []

    def test_what_stands_in_a_loop_or_a_try(self):
        assert ends('for one in self.parts:\n    if self.dcp > 1:\n        raise ValueError("x")', *self.SET) == []
        assert ends('try:\n    if self.dcp > 1:\n        raise ValueError("x")\nexcept ValueError:\n    pass', *self.SET) == []

    def test_what_an_attribute_is_after_something_may_have_set_it(self):
        assert ends(f"if strange():\n    self.dcp = 1\n{REFUSES}", *self.SET) == []

    def test_but_an_assignment_that_cannot_happen_changes_nothing(self):
        assert ends(f"if self.dcp is None:\n    self.dcp = 1\n{REFUSES}", *self.SET) == [("guard", True)]

    def test_nor_does_one_that_gives_it_another_of_its_names(self):
        args = ARGS.replace('"--dcp"', '"--decode-parallel", "--dcp"')
        copies = "    def from_cli_args(cls, args):\n        args.dcp = args.decode_parallel\n"
        found = look(tree(args), tree(guarded(REFUSES, also=copies).replace(ARGS, args)), *self.SET)
        assert [(one.what, one.certain) for one in found] == [("guard", True)]

    def test_a_value_that_only_the_run_knows(self):
        assert ends(REFUSES, option("--method", "draft"), option("--dcp", None)) == []

    def test_what_a_script_passes_on_a_branch(self):
        assert ends(REFUSES, option("--method", "draft"), option("--dcp", "8", conditional=True)) == []

    def test_which_of_two_starts_has_both(self):
        assert ends(REFUSES, option("--method", "draft", start="line 3"), option("--dcp", "8", start="line 9")) == []


class TestJson:
    GUARD = ('import e\n' + ARGS.split("\n", 1)[1] + "class SpecConfig:\n    method: str = None\n    count: int = 1\n"
             "    def __post_init__(self):\n        if self.method == 'draft' and self.count > 2:\n            raise ValueError('x')\n")

    def test_given_to_a_class_sets_its_fields(self):
        assert ends(self.GUARD, option("--spec-config", '{"method": "draft", "count": 3}')) == [("guard", True)]

    def test_that_is_not_given_makes_no_object(self):
        assert ends(self.GUARD, option("--method", "draft")) == []

    def test_says_nothing_of_a_field_that_the_engine_fills_in(self):
        guard = self.GUARD.replace("count: int = 1", "target: ModelConfig | None = None").replace("self.count > 2", "self.target is None")
        assert ends(guard, option("--spec-config", '{"method": "draft"}')) == []

    def test_names_the_model_by_which_an_architecture_is_known(self):
        guard = self.GUARD.replace("self.count > 2", '"K3DSparkModel" in self.draft_model_config.architectures').replace(
            "class SpecConfig", "class SpeculativeConfig").replace("--spec-config", "--speculative-config")
        given = [option("--speculative-config", f'{{"method": "draft", "model": "{name}"}}') for name in ("x/Kimi-K3-DSpark", "x/Other")]
        assert ends(guard, given[0]) == [("guard", True)]
        assert ends(guard, given[1]) == []


class TestACheckBehindAnother:
    """Where the first raised, the start has ended too."""

    def test_that_raises_need_not_know_of_it(self):
        body = "if unknown():\n    raise ValueError('first')\nif self.dcp > 1:\n    raise ValueError('second')"
        assert ends(body, option("--dcp", "8")) == [("guard", True)]

    @pytest.mark.parametrize("first", [
        "if unknown():\n    return", "if unknown():\n    if other():\n        return\n    raise ValueError('x')"])
    def test_that_may_return_does(self, first):
        assert ends(f"{first}\nif self.dcp > 1:\n    raise ValueError('second')", option("--dcp", "8")) == []
