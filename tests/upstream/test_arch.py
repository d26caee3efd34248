"""Whether image and engine have code for the recipe's GPU."""

import pytest

from bot.model.uses import Used, Uses, Written
from bot.rehearse.told import TreeTold
from bot.upstream.arch import capability, covers, refused, vendor
from bot.upstream.engines import Engine
from tests.fakes.upstreams import SurveyorHere

ENGINE = Engine(repositories=("o/e",), module="e", package="e")


class TestAListOfArchitectures:
    @pytest.mark.parametrize(("listed", "hardware", "said"), [
        ("8.0 9.0", "h200", True), ("9.0", "b200", False), ("10.0", "b300", True), ("10.3", "b200", False), ("10.0a", "b300", False),
        ("10.0f", "gb300", True), ("10.0f", "rtx6000pro", False), ("9.0+PTX", "b200", True), ("10.0+PTX", "h100", False),
        ("9.0;10.0", "gb200", True), ("sm_90", "h100", True), ("8.9", "h100", False),
        ("gfx942;gfx950", "mi355x", True), ("gfx942", "mi355x", False), ("gfx942:sramecc+:xnack-", "mi300x", True),
        ("", "h100", None), ("Hopper", "h100", None), ("9.0", "tpu", None), ("gfx942", "h100", None), ("9.0", "mi300x", None),
        ("9.0a+PTX", "b200", False), ("9.0a+PTX", "h100", True), ("10.0f+PTX", "rtx6000pro", False), ("10.0f+PTX", "b300", True),
        ("gfx9-4-generic", "mi355x", None), ("gfx9-4-generic;gfx950", "mi355x", True)])
    def test_covers_a_gpu_or_not_or_nobody_knows(self, listed, hardware, said):
        assert covers(listed, hardware) is said

    def test_that_leaves_the_gpu_out_is_certain(self):
        (found,) = refused(Uses(engine=None), "b200", {"arch_list": "8.0 9.0"}, {"arch_list": "9.0 10.0"})
        assert (found.hard, found.new) == (True, True)

    def test_that_left_it_out_before_ran_all_the_same(self):
        (found,) = refused(Uses(engine=None), "b200", {"arch_list": "9.0"}, {"arch_list": "8.0 9.0"})
        assert (found.hard, found.new) == (False, False)

    @pytest.mark.parametrize(("listed", "hardware", "hard"), [
        ("8.0 9.0", "b200", True), ("8.0 9.0a+PTX", "b200", True), ("9.0 10.3", "b200", False), ("10.0a", "b300", False),
        ("gfx942", "mi355x", True), ("9.0 10.3", "rtx6000pro", True)])
    def test_beside_one_that_nobody_knows_is_certain_only_without_any_code_of_that_family(self, listed, hardware, hard):
        (found,) = refused(Uses(engine=None), hardware, {"arch_list": listed}, {})
        assert (found.hard, found.old_known) == (hard, False)

    def test_that_nobody_states_refuses_nothing(self):
        assert refused(Uses(engine=None), "b200", {}, {}) == ()


class TestAGpu:
    def test_is_known_with_what_follows_its_name(self):
        assert (capability("cluster:h200-dgxc"), capability("mi355x-disagg"), capability("x1")) == ((9, 0), "gfx950", None)
        assert (vendor("gb300"), vendor("mi300x"), vendor("x1")) == ("cuda", "rocm", "")


class TestAnAssert:
    OPEN = "class Fa4:\n    def __init__(self):\n        self.x = 1\n"
    BODY = "class Fa4:\n    def __init__(self):\n        {}\n"

    def look(self, line, hardware, *, name="--attention-backend", before=None, **more):
        used = Used(kind="option", name=name, value="fa4", at=Written(file="r", line=1), **more)
        tree = TreeTold({"e/__init__.py": "", "e/layers/fa4_backend.py": self.BODY.format(line)})
        return refused(Uses(engine="e", options=(used,)), hardware, {}, {}, engine=ENGINE, tree=tree,
                       before=before or TreeTold({"e/__init__.py": "", "e/layers/fa4_backend.py": self.OPEN}),
                       survey=SurveyorHere().survey)

    @pytest.mark.parametrize("line", [
        "assert sm_100 <= arch <= sm_110f", "assert 100 <= get_device_sm() <= 110, 'x'", "assert arch >= sm_100",
        "if get_sm_version() < 100:\n            raise RuntimeError('x')"])
    def test_of_the_chosen_backend_stops_older_hardware_and_no_other(self, line):
        assert [one.hard for one in self.look(line, "h200")] == [True]
        assert self.look(line, "b200") == ()

    def test_of_two_numbers_made_into_one(self):
        line = "major, minor = torch.cuda.get_device_capability()\n        arch = major * 10 + minor\n        assert 100 <= arch <= 110"
        assert [one.hard for one in self.look(line, "h200")] == [True]
        assert self.look(line, "b300") == ()

    def test_of_a_backend_that_is_not_chosen_is_not_read(self):
        assert self.look("assert arch >= sm_100", "h200", name="--served-model-name") == ()

    def test_behind_something_that_nobody_knows_is_only_told(self):
        assert [one.hard for one in self.look("if self.strange:\n            assert arch >= sm_100", "h200")] == [False]

    def test_that_the_old_engine_had_too_ended_nothing(self):
        before = TreeTold({"e/__init__.py": "", "e/layers/fa4_backend.py": self.BODY.format("assert arch >= sm_100")})
        assert [one.hard for one in self.look("assert arch >= sm_100", "h200", before=before)] == [False]
