"""What is done about an option: only what certainly ends the start stops a bump, and nobody else's words are shown."""

import pytest
from msgspec.structs import replace

from bot.model.finding import Release
from bot.model.memory import Lesson
from bot.model.text import Text
from bot.model.upstream import ArchRefused, Commit, OptionChanged, OptionsChecked
from bot.model.uses import Used, Uses, Written
from bot.preflight import arch, options
from tests.fakes.facts import START
from tests.preflight.worlds import facts

COMMIT = Commit(sha="ab" * 20, title="@somebody `breaks` everything", date="2026-09-01", pull=39700)


def used(name="--max-bs", **more):
    return Used(kind="option", name=name, value="1", at=Written(file="r.yaml", line=3), **more)


def judged(*changed, unread=()):
    told = OptionsChecked(engine="sglang", changed=changed, parsers=("a.py",), counted=9)
    return options.check(replace(facts(), options=told, uses=Uses(engine="sglang", unread=unread)))


def one(what, **more):
    return OptionChanged(**{"used": used(), "what": what, **more})


class TestWhatIsDone:
    @pytest.mark.parametrize(("change", "action", "class_"), [
        (one("removed"), "stop", "flag-removed"),
        (one("removed", used=used(conditional=True)), "note", "flag-removed"),
        (one("removed", new="--top"), "repair-first", "flag-removed"),
        (one("removed", used=Used(kind="environment", name="SGLANG_X", value="1", at=Written(file="r"))), "note", "flag-removed"),
        (one("renamed", new="--top"), "repair-first", "flag-removed"),
        (one("renamed", new="--top", works=True), "note", "flag-removed"),
        (one("ambiguous", candidates=("--max-bs-a", "--max-bs-b")), "repair-first", "flag-removed"),
        (one("choice", old="x", candidates=("y",)), "stop", "flag-removed"),
        (one("guard", said="not together"), "stop", "feature-missing"),
        (one("guard", said="not together", certain=False), "note", "feature-missing"),
        (one("guard", said="x", beside=(used(conditional=True),)), "note", "feature-missing"),
        (one("default", used=used("--mem-fraction-static"), old="0.8", new="0.9", at="a.py:1"), "note", "oom"),
        (one("missing"), "note", None),
    ])
    def test_depends_on_whether_the_start_certainly_ends(self, change, action, class_):
        (found,) = judged(change).findings
        assert (found.action, found.class_) == (action, class_)

    @pytest.mark.parametrize("change", [one("removed"), one("choice", old="x"), one("guard")])
    def test_waits_for_upstream_where_it_stops(self, change):
        assert judged(change).findings[0].who == "upstream"

    def test_is_nothing_where_nobody_can_tell(self):
        checked = judged(one("unread"), unread=("x.sh: never ends",))
        assert checked.findings == ()
        assert checked.unknown is not None
        assert "--max-bs" in checked.unknown.en

    def test_is_unknown_where_nothing_was_asked(self):
        assert options.check(replace(facts(), options=None)).unknown is not None
        assert arch.check(replace(facts(), arch=None)).unknown is not None

    def test_names_the_commit_and_never_what_somebody_wrote(self):
        (found,) = judged(one("guard", said="@everyone <b>", commit=COMMIT, at="a.py:7")).findings
        shown = " ".join([found.evidence, found.where, found.next.en, found.next.zh, found.what.en, found.what.zh])
        assert "abababababab (#39700)" in shown
        assert not [word for word in ("@", "<b>", "breaks", "`") if word in shown]

    def test_of_one_setting_asks_for_no_two_together(self):
        alone, both = (judged(one("guard", beside=beside)).findings[0] for beside in ((), (used("--tp"),)))
        assert "together" not in alone.next.en and "together" in both.next.en

    def test_is_said_once_however_many_processes_pass_it(self):
        assert len(judged(*[one("default", used=used("--mem-x"), old="1", new="2", at="a.py:1")] * 5).findings) == 1


def stopped(subject, of="options"):
    return Lesson(bump="b", recipes=("r",), at=START, engine="sglang", image="x", check=of, release=Release(
        of=of, subject=subject, says=Text("gone", "已解除")))


class TestAnEarlierStop:
    """A script that nobody can read must not keep a bump out for which its option was dropped."""

    def test_is_seen_to_be_gone_though_something_else_is_unread(self):
        told = OptionsChecked(engine="sglang", changed=(one("unread", used=used("--other")),), parsers=("a.py",), counted=9)
        made = options.check(replace(facts(), options=told, uses=Uses(engine="sglang"), lessons=(stopped("removed --max-bs"),)))
        assert made.unknown is not None and made.held == ("removed --max-bs",)

    def test_is_not_where_it_is_found_again_or_cannot_be_told(self):
        for change in (one("removed"), one("unread")):
            told = OptionsChecked(engine="sglang", changed=(change,), parsers=("a.py",), counted=9)
            made = options.check(replace(facts(), options=told, uses=Uses(engine="sglang"), lessons=(stopped("removed --max-bs"),)))
            assert made.held == ()

    def test_of_a_kernel_is_not_gone_where_only_the_image_was_asked(self):
        known = (stopped("h200 fa4.py", "arch"), stopped("h200 arch_list", "arch"))
        world = replace(facts(), arch=(), lessons=known)
        assert arch.check(world).held == ("h200 fa4.py", "h200 arch_list")
        assert arch.check(replace(world, unknown={"arch": "unreachable"})).held == ("h200 arch_list",)


class TestWhatWasLookedAt:
    @pytest.mark.parametrize(("checks", "decided", "said"), [
        (0, 0, ""), (5, 5, "; 5 of 5 checks of its configuration decided"), (5, 2, "; 2 of 5 checks of its configuration decided, the rest unknown")])
    def test_counts_the_checks_that_the_settings_decide(self, checks, decided, said):
        told = OptionsChecked(engine="sglang", parsers=("a.py",), counted=9, checks=checks, decided=decided)
        assert options.check(replace(facts(), options=told)).about.en == f"9 options and variables in 1 file of sglang{said}"


class TestAnArchitecture:
    @pytest.mark.parametrize(("hard", "action"), [(True, "stop"), (False, "note")])
    def test_stops_where_it_is_certain(self, hard, action):
        refused = ArchRefused(hardware="b200", at="arch_list", said="9.0", hard=hard)
        (found,) = arch.check(replace(facts(), arch=(refused,))).findings
        assert (found.action, found.class_, found.check) == (action, "arch-unsupported", "arch")

    @pytest.mark.parametrize("known", [True, False])
    def test_says_where_the_present_images_list_is_unknown(self, known):
        refused = ArchRefused(hardware="b200", at="arch_list", said="8.0 9.0+PTX", hard=True, old_known=known)
        (found,) = arch.check(replace(facts(), arch=(refused,))).findings
        assert "8.0, 9.0+PTX" in found.what.en and ("unknown" in found.what.en, "未知" in found.what.zh) == (not known, not known)

    def test_with_code_for_the_gpu_says_nothing(self):
        checked = arch.check(replace(facts(), arch=()))
        assert (checked.findings, checked.unknown) == ((), None)
