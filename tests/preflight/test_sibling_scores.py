"""What a plan tells of the recipes that run its candidate already: what they are published to have scored with it."""

from __future__ import annotations

from bot.model.upstream import Sibling
from bot.plan import checks
from tests.preflight.told import Case, cases

ALONE = next(one for one in cases() if one.name == "own-same-candidate-regressed")
PLACE = "recipes/qwen3-h200-sglang.yaml"


def beside(number: int, **more: object) -> Case:
    """The same repository, where so many other recipes run the candidate."""
    told = ALONE.told
    text = str(told.files[PLACE]).replace("lmsysorg/sglang:v0.5.19-cu130", told.image)
    files = {f"recipes/other-{n}.yaml": text.replace("qwen3-h200-sglang", f"other-{n}") for n in range(number)}
    return ALONE.but({"files": files, "lessons": [], **more})


def siblings(case: Case) -> tuple[Sibling, ...]:
    return case.subject().plan.siblings


class TestASibling:
    def test_tells_what_it_scored_with_the_candidate(self) -> None:
        (one,) = siblings(beside(1, measured={"scores": {"gsm8k": 0.9512}}))
        assert [said.en for said in one.evals] == ["gsm8k, scored 0.9512 or more, threshold 0.9"]

    def test_tells_its_threshold_alone_where_nobody_answers_what_it_scored(self) -> None:
        for told in ("away", None):
            (one,) = siblings(beside(1, measured=told))
            assert [said.en for said in one.evals] == ["gsm8k, threshold 0.9"]

    def test_is_asked_about_only_among_the_first_few(self) -> None:
        found = siblings(beside(checks.SCORED + 2, measured={"scores": {"gsm8k": 0.95}}))
        scored = [one for one in found if any("scored" in said.en for said in one.evals)]
        assert len(found) == checks.SCORED + 2 and len(scored) == checks.SCORED
