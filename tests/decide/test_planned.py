"""What planning found, as the body tells it: what stops, what waits for whom, what the bot mends, what nobody knows."""

from __future__ import annotations

from typing import get_args

from msgspec.structs import replace

from bot.decide import report
from bot.decide.report.planned import NOTES, SIBLINGS, TOUCHING, compared
from bot.model.bump import Approval, Asked, Bump
from bot.model.finding import Act, Check, Checked, PlanFinding, Release, Who
from bot.model.policy import Answered
from bot.model.record import Proposal
from bot.model.text import Text
from bot.model.upstream import CarriedHeld, Change, Commit, Comparison, Held, Sibling, Touch
from bot.model.uses import Carried, Written
from tests.fakes.facts import PROPOSAL, bump, later, run, wanted

TODO = Text(en="do it", zh="照做")


def found(check: Check, action: Act, **changed: object) -> PlanFinding:
    made = PlanFinding(check=check, class_=None, action=action, evidence="e", where="w", next=TODO, who="maintainer")
    return replace(made, **changed)


def checked(*findings: PlanFinding) -> tuple[Checked, ...]:
    return tuple(Checked(check=one.check, findings=(one,)) for one in findings)


def planned(*checks: Checked, heads: tuple[str, ...] = (), memory: dict | None = None, **changed: object) -> Bump:
    made = bump(*heads, memory=memory or {})
    plan = replace(made.subject.plan, checks=checks, **changed)
    return replace(made, subject=replace(made.subject, plan=plan))


def body(facts: Bump) -> Proposal:
    return report.proposal(facts, ended=None)


def commit(number: int) -> Touch:
    return Touch(commit=Commit(sha=f"{number:040x}", title="@claude | words of others", date="2026-08-21T10:00:00Z", pull=number),
                 words=("--tp-size",))


class TestEachCheck:
    def test_holds_or_found_something_or_is_unknown_and_the_gravest_stands_first(self) -> None:
        told = Text(en="no token", zh="没有令牌")
        made = body(planned(Checked(check="names"), Checked(check="identity", unknown=told), *checked(found("options", "note")),
                            *checked(found("roster", "ask"))))
        assert [(line.check, line.state) for line in made.checks] == [
            ("roster", "ask"), ("options", "note"), ("identity", "unknown"), ("names", "holds")]
        assert made.checks[2].what == told

    def test_that_found_something_and_could_not_see_everything_says_both(self) -> None:
        half = Checked(check="imports", findings=(found("imports", "note"),), unknown=Text(en="2 files", zh="2 个文件"))
        assert [line.state for line in body(planned(half)).checks] == ["note", "unknown"]

    def test_of_notes_only_the_first_are_told_and_of_nothing_else_is_anything_left_out(self) -> None:
        many = Checked(check="options", findings=tuple(found("options", "note", evidence=str(n)) for n in range(NOTES + 3)))
        grave = Checked(check="arch", findings=tuple(found("arch", "ask", evidence=str(n)) for n in range(NOTES + 3)))
        made = body(planned(many, grave))
        assert sum(line.state == "note" for line in made.checks) == NOTES and made.unshown == 3
        assert sum(line.state == "ask" for line in made.checks) == NOTES + 3

    def test_says_what_must_change_before_another_try(self) -> None:
        says = Text(en="it is staged", zh="已就位")
        stop = found("staging", "stop", release=Release(of="staging", subject="s", says=says))
        assert body(planned(*checked(stop))).stops[0].release == says


class TestTheOpenQuestion:
    def test_stands_in_the_body_until_a_person_with_a_say_answers(self) -> None:
        asked = checked(found("roster", "ask"))
        assert [line.check for line in body(planned(*asked)).questions] == ["roster"]
        answered = planned(*asked, heads=("proposal",), memory={"approvals": (Approval(by="ann", at=later(1)),)})
        assert body(answered).questions == ()

    def test_also_asks_for_what_should_be_mended_and_the_bot_cannot_mend(self) -> None:
        made = body(planned(*checked(found("imports", "repair-first"), found("options", "repair-first", repair="rename", who="bot"))))
        assert [line.check for line in made.questions] == ["imports"]
        assert [line.repair for line in made.repairs] == ["rename"]

    def test_of_runners_holds_the_smoke_too_and_then_a_person_moves_next(self) -> None:
        facts = planned(*checked(found("runners", "ask")), heads=("proposal",))
        made = body(facts)
        assert [line.holds for line in made.questions] == ["smoke"] and made.state.next == "maintainer"
        other = body(planned(*checked(found("roster", "ask")), heads=("proposal",)))
        assert [line.holds for line in other.questions] == ["sweep"] and other.state.next == "bot"

    def test_of_what_must_be_mended_first_holds_the_smoke_whatever_else_is_asked(self) -> None:
        asked = checked(found("roster", "ask"), found("contains", "repair-first"), found("mergeable", "repair-first"))
        facts = planned(*asked, heads=("proposal",))
        made = body(facts)
        assert [(line.check, line.holds) for line in made.questions] == [("contains", "smoke"), ("roster", "sweep")]
        assert made.state.next == "maintainer"
        let = replace(facts, memory=replace(facts.memory, asked=(Asked(what="smoke", by="ann", at=later(1)),)))
        assert [(line.check, line.holds) for line in body(let).questions] == [("roster", "sweep"), ("contains", "sweep")]
        assert body(let).state.next == "bot"

    def test_is_a_persons_where_the_known_repair_cannot_be_made(self) -> None:
        mends = checked(found("options", "repair-first", repair="rename", who="bot"))
        able = planned(*mends, heads=("proposal",))
        wish = wanted(run(0, "smoke", PROPOSAL), id_="rename")
        for given, asked, mended in ((replace(wish, run=0), [], ["options"]), (replace(wish, run=0, available=False), ["options"], []),
                                     (None, ["options"], [])):
            made = body(replace(able, world=replace(able.world, wanted=given)))
            assert [line.check for line in made.questions] == asked and [line.check for line in made.repairs] == mended

    def test_is_none_where_something_forbids_the_bump_anyway(self) -> None:
        made = body(planned(*checked(found("roster", "ask"), found("imports", "stop", class_="moved-module"))))
        assert made.questions == () and made.repairs == () and [line.check for line in made.stops] == ["imports"]


class TestWhoMovesNextOfWhatIsNotOpened:
    def test_is_whoever_can_change_what_was_found(self) -> None:
        for mover in get_args(Who):
            state = body(planned(*checked(found("imports", "stop", class_="moved-module", who=mover)))).state
            assert (state.phase, state.next) == ("prevented", mover)


class TestACommitOfAnUpstream:
    COMPARISON = Comparison(repository="a/b", base="1" * 40, head="2" * 40, merge_base="1" * 40, ahead=300, behind=0,
                            url="https://github.com/a/b/compare/1...2")

    def test_is_told_by_link_day_number_and_our_own_words_and_never_by_its_title(self) -> None:
        line, = compared(replace(self.COMPARISON, touching=(commit(7),))).touching
        assert line.url == f"https://github.com/a/b/commit/{7:040x}"
        assert (line.date, line.pull, line.words) == ("2026-08-21", 7, ("--tp-size",))
        assert "claude" not in str(compared(replace(self.COMPARISON, touching=(commit(7),), commits=(commit(7).commit,))))

    def test_is_one_of_at_most_a_dozen_and_the_others_are_counted(self) -> None:
        made = compared(replace(self.COMPARISON, touching=tuple(map(commit, range(1, 61))), concerning=93))
        assert len(made.touching) == TOUCHING and made.more == 93 - TOUCHING

    def test_has_no_link_where_the_comparison_has_none(self) -> None:
        assert compared(replace(self.COMPARISON, url="", touching=(commit(7),))).touching[0].url == ""


class TestBesideTheChecks:
    def test_siblings_with_the_very_digest_come_first_and_a_long_list_is_cut(self) -> None:
        many = tuple(Sibling(recipe=f"r{n}", image="i", same="digest" if n == 9 else "tag", hardware="h") for n in range(SIBLINGS + 4))
        made = body(planned(siblings=many))
        assert made.siblings[0].recipe == "r9" and len(made.siblings) == SIBLINGS and made.siblings_more == 4

    def test_patches_that_can_be_dropped_come_first(self) -> None:
        change = Change(repository="a/b", pull=7, wanted="must-have")
        held = [CarriedHeld(carried=Carried(at=Written(file=f"{holds}.diff")), held=(Held(change=change, holds=holds),))
                for holds in (None, False, True)]
        lines = body(planned(carried=tuple(held))).carried
        assert [line.holds for line in lines][0] is True and lines[0].changes == ("a/b#7",)

    def test_a_hint_that_was_not_taken_says_why_its_own_tag_lost(self) -> None:
        hint = Answered(what="v2", of="tag", by="ann", answer="not-taken", beside="v1", how="older", why="version", lost="1 day old")
        made = planned()
        made = replace(made, subject=replace(made.subject, candidate=replace(made.subject.candidate, hints=(hint,))))
        line, = body(made).hints
        assert (line.answer, line.how, line.beside, line.why) == ("not-taken", "older", "v1", "1 day old")
