"""The files of the run that measured the baseline: what they count is taken in, their bytes are kept, their lack is told."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from bot.adapters.folder_archive import FolderArchive
from bot.errors import Missing, Unreachable
from bot.layout import Layout
from bot.model.bump import Bump
from bot.model.result import Accounting, Baseline, Cell, Row
from bot.wake.archive import archived, keep
from tests.fakes.facts import bump
from tests.wake.made import NAMES, Forge, artifact, log, zipped

PRINT = "ab" * 32
ROW = Row(point=Cell(recipe="r", concurrency=4, fingerprint=PRINT), metric="tput_per_gpu", value=1.0, unit="tok/s/GPU", run=32)
BASE = Baseline(date="2026-08-21", image="a/b:1", run=32, attempt=1, head=None, pull=None, fingerprint=PRINT, rows=(ROW,),
                notes=("requests-unpublished",))
COUNTED = {"hw": "gb200", "conc": 4, "scenario_type": "agentic-coding", "num_requests_total": 9, "num_requests_successful": 9}


def facts(baseline: Baseline | None = BASE) -> Bump:
    made = bump("proposal")
    return replace(made, subject=replace(made.subject, plan=replace(made.subject.plan, baseline=baseline)))


class Told:
    def __init__(self, *held: Any, archive: Any = None) -> None:
        self.said: list[str] = []
        self.forge, self.archive, self.narrate = Forge(held), archive, self.said.append
        self.layout, self.knowledge = Layout(artifacts=NAMES), None

    def look(self, made: Bump | None = None) -> Baseline:
        found = archived(self, made or facts())  # type: ignore[arg-type]
        return found.subject.plan.baseline  # type: ignore[return-value]


def records(invalid: int = 1) -> bytes:
    """Request records as the load generator writes them, some of which failed."""
    lines = [b'{"metadata": {"benchmark_phase": "profiling", "request_start_ns": %d, "request_end_ns": %d, "conversation_id": "c%d", '
             b'"turn_index": 0}, "metrics": {"request_latency": {"value": 5.0, "unit": "ms"}}, "error": %s}'
             % (number, number + 5, number, b'{"code": 500, "type": "E", "message": "m"}' if number < invalid else b"null")
             for number in range(9)]
    return zipped({"aiperf_artifacts/profile_export.jsonl": b"\n".join(lines) + b"\n"})


class TestWhatTheRunStillHas:
    def test_is_named_with_size_and_hash_and_its_requests_are_counted(self) -> None:
        held = artifact(1, f"bmk_agentic_x_conc4_n0_recipe-{PRINT[:16]}")
        found = Told((held, records()), (artifact(2, "bmk_other_conc4_n0_recipe-0000000000000000"), b"not fetched")).look()
        assert [one.name for one in found.files] == [f"{held.name}.zip"] and found.files[0].size > 0
        assert [(one.recipe, one.concurrency, one.profiling_invalid) for one in found.accounting] == [("r", 4, 1)]
        assert found.notes == ()

    def test_never_takes_the_place_of_what_was_published(self) -> None:
        known = Accounting(concurrency=4, total=5, profiled=5, warmup_invalid=0, profiling_invalid=0, recipe="r")
        found = Told((artifact(1, "bmk_r_conc4_n0"), records())).look(facts(replace(BASE, accounting=(known,))))
        assert found.accounting == (known,) and found.rows == BASE.rows and len(found.files) == 1

    @pytest.mark.parametrize(("held", "said"), [
        ((artifact(1, "bmk_r_conc4_n0", expired=True), b""), "artifacts-expired"),
        ((artifact(1, "bmk_r_conc4_n0"), Missing("gone")), "artifacts-gone:32"),
        ((artifact(1, "bmk_r_conc4_n0"), Unreachable("later")), "artifacts-unread:32"),
        ((artifact(1, "bmk_r_conc4_n0"), b"no zip"), "artifact-unreadable:bmk_r_conc4_n0.zip")])
    def test_where_it_cannot_be_had_is_a_note_and_no_obstacle(self, held: Any, said: str) -> None:
        found = Told(held).look()
        assert said in found.notes and "requests-unpublished" in found.notes and found.rows == BASE.rows

    def test_of_no_baseline_or_of_no_run_is_not_asked_for(self) -> None:
        told = Told(log())
        assert archived(told, facts(None)) == facts(None) and told.look(facts(replace(BASE, run=None))).files == ()
        assert told.forge.fetched == []


class TestTheArchive:
    def test_gets_what_the_baseline_names_once(self, tmp_path: Path) -> None:
        told = Told((artifact(1, "bmk_r_conc4_n0"), records()), log(2), archive=FolderArchive(tmp_path))
        made = archived(told, facts())  # type: ignore[arg-type]
        told.forge.fetched.clear()
        keep(told, made)  # type: ignore[arg-type]
        keep(told, made)  # type: ignore[arg-type]
        kept = told.archive.held(made.id)
        assert set(kept.values()) == set(made.subject.plan.baseline.files) and len(kept) == 2 and len(told.forge.fetched) == 2
        into = io.BytesIO()
        told.archive.read(made.id, "bmk_r_conc4_n0.zip", into, 10**6)
        assert into.getvalue() == records()

    def test_that_cannot_be_written_stops_nothing_and_is_told(self, tmp_path: Path) -> None:
        told = Told((artifact(1, "bmk_r_conc4_n0"), records()),
                    archive=SimpleNamespace(held=lambda bump: {}, put=_refuse))
        keep(told, archived(told, facts()))  # type: ignore[arg-type]
        assert "are archived" in told.said[-1]


def _refuse(*args: Any) -> None:
    raise Unreachable("the forge does not answer")
