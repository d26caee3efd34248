"""What the imports check makes of what is missing: only a certain failure of the start stops."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from bot.model.finding import Checked, PlanFinding
from bot.model.preflight import Facts
from bot.model.upstream import ImportsChecked, MissingImport
from bot.model.uses import Pin, Used, Uses, Written
from bot.preflight.imports import check

AT = Written(file="recipe.yaml", line=3)


def row(module: str = "engine.gone", name: str | None = None, **said: Any) -> MissingImport:
    flags = {"guarded": False, "lazy": False, "typing": False, "on_start_path": True}
    return MissingImport(module=module, name=name, file="dynamo/engine/args.py", line=18, **{**flags, **said})


def part(*rows: MissingImport, owned: bool = False, **said: Any) -> ImportsChecked:
    pin = Pin(name="dynamo", package="ai-dynamo", module="dynamo", version="1.1.0", at=AT, owned=owned)
    return ImportsChecked(consumer="dynamo 1.1.0", provider="engine 2.0", **{"pin": pin, "missing": rows, "before": (), **said})


def judged(*told: ImportsChecked, options: tuple[Used, ...] = (), **said: Any) -> Checked:
    uses = Uses(engine="engine", options=options)
    facts: Any = {"now": datetime(2026, 9, 9, tzinfo=UTC), "family": (), "candidate": None, "uses": uses, "imports": told, **said}
    return check(Facts(**facts))


def only(checked: Checked) -> PlanFinding:
    (found,) = checked.findings
    return found


class TestAMovedModule:
    def test_stops_where_nobody_here_may_move_the_pin(self) -> None:
        found = only(judged(part(row())))
        assert (found.action, found.class_, found.who) == ("stop", "moved-module", "upstream")
        assert found.evidence == "engine.gone at dynamo/engine/args.py:18" and found.where == "recipe.yaml:3"
        assert found.release is not None and found.release.of == "imports"

    def test_is_mended_first_where_the_pin_is_ours_and_says_to_what(self) -> None:
        found = only(judged(part(row(), owned=True, fits="1.5.1")))
        assert (found.action, found.release) == ("repair-first", None)
        assert "1.5.1" in found.next.en and "1.5.1" in found.next.zh

    @pytest.mark.parametrize("flag", [{"guarded": True}, {"lazy": True, "on_start_path": False}, {"on_start_path": False}])
    def test_that_keeps_nothing_from_starting_is_a_note(self, flag: dict[str, bool]) -> None:
        found = only(judged(part(row(**flag))))
        assert found.action == "note" and found.what is not None and "imports 1 thing that" in found.what.en

    def test_that_only_a_type_checker_reads_is_not_even_that(self) -> None:
        assert judged(part(row(typing=True, on_start_path=False))).findings == ()

    def test_that_the_present_image_lacks_too_is_a_note(self) -> None:
        found = only(judged(part(row(), before=(row(),))))
        assert found.action == "note" and "runs" in (found.what.en if found.what else "")

    def test_beside_one_that_was_always_missing_still_stops(self) -> None:
        found = judged(part(row(), row("engine.old"), before=(row("engine.old"),))).findings
        assert [one.action for one in found] == ["stop", "note"]
        assert "engine.old" not in found[0].evidence

    def test_shows_of_a_name_only_what_is_safe(self) -> None:
        found = only(judged(part(row("engine.`@everyone` /sweep"))))
        assert not set("`@") & set(found.evidence + found.next.en + (found.what.en if found.what else ""))


class TestAnImportUnderAnOption:
    OPTION = Used(kind="option", name="--dyn-chat-processor", value="vllm", at=AT)
    LAZY = {"lazy": True, "on_start_path": False, "needs": ("config.chat_processor=vllm",)}

    def test_that_the_recipe_sets_has_its_known_repair(self) -> None:
        found = only(judged(part(row(**self.LAZY)), options=(self.OPTION,)))
        assert (found.action, found.repair, found.who) == ("repair-first", "native-chat-processor", "bot")

    def test_that_a_variable_sets_waits_for_a_person_who_takes_the_variable_away(self) -> None:
        found = only(judged(part(row(**self.LAZY), asked=(("DYN_CHAT_PROCESSOR", self.OPTION),))))
        assert (found.action, found.repair, found.who) == ("repair-first", None, "maintainer")
        assert found.what is not None and "DYN_CHAT_PROCESSOR=vllm" in found.what.en and "DYN_CHAT_PROCESSOR" in found.next.zh

    def test_that_has_no_known_repair_waits_for_a_person(self) -> None:
        other = Used(kind="option", name="--fancy-mode", value="on", at=AT)
        found = only(judged(part(row(lazy=True, on_start_path=False, needs=("args.fancy_mode=on",))), options=(other,)))
        assert (found.action, found.repair, found.who) == ("repair-first", None, "maintainer")

    @pytest.mark.parametrize("value", ["sglang", None])
    def test_that_the_recipe_sets_otherwise_is_a_note(self, value: str | None) -> None:
        option = Used(kind="option", name="--dyn-chat-processor", value=value, at=AT)
        assert only(judged(part(row(**self.LAZY)), options=(option,))).action == "note"

    def test_and_guarded_is_a_note(self) -> None:
        assert only(judged(part(row(**self.LAZY, guarded=True)), options=(self.OPTION,))).action == "note"


class TestAKernelThatIsNotThere:
    def test_stops_where_the_start_needs_it_and_no_image_fits(self) -> None:
        found = only(judged(part(row("kernel", "op"), kernel=True)))
        assert (found.action, found.class_, found.who) == ("stop", "engine-regression", "upstream")

    def test_names_the_image_that_fits(self) -> None:
        found = only(judged(part(row("kernel", "op", on_start_path=False), kernel=True, fits="nightly-20260914")))
        assert found.action == "repair-first" and "nightly-20260914" in found.next.en

    def test_off_the_start_path_is_a_note(self) -> None:
        assert only(judged(part(row("kernel", "op", on_start_path=False), kernel=True))).action == "note"

    def test_of_which_nobody_knows_whether_it_was_there_before_is_asked(self) -> None:
        assert only(judged(part(row("kernel", "op"), kernel=True, before=None))).action == "ask"


class TestWhatIsNotKnown:
    def test_is_told_and_is_never_nothing(self) -> None:
        assert judged(imports=None).unknown is not None
        told = judged(part(unread_start=("dynamo/engine/args.py",)))
        assert told.findings == () and told.unknown is not None and "dynamo/engine/args.py" in told.unknown.en

    def test_of_one_part_does_not_hide_the_other(self) -> None:
        told = judged(part(row()), unknown={"imports": "unreachable"})
        assert only(told).action == "stop" and told.unknown is not None

    def test_is_nothing_where_nothing_is_pinned(self) -> None:
        told = judged()
        assert (told.findings, told.unknown) == ((), None) and told.about is not None
