"""The evidence of a bump that is over: what it holds, what it says is missing, and that the same facts give the same bytes."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from bot.adapters.folder_archive import FolderArchive
from bot.errors import BadInput, Missing, Refusal, Unreachable
from bot.layout import Layout
from bot.model.bump import Bump, Ended, Evidence
from bot.model.ledger import Receipt
from bot.model.outcome import Cause, Outcome
from bot.model.result import Baseline, Cell, Filed, Row
from bot.wake import sealing, zipped
from bot.wake.archive import keep
from tests.fakes.facts import ENTRY, PROPOSAL, bump, judged, later, run
from tests.render.catalogue import renderer
from tests.wake.made import NAMES, Forge, artifact, job
from tests.wake.made import zipped as packed

RECEIPT = Receipt(n=9, sha256="c" * 64)
ROW = Row(point=Cell(recipe="r", concurrency=4), metric="tput_per_gpu", value=1.5, unit="tok/s/GPU", run=20)
BASE = Baseline(date="2026-08-21", image="a/b:1", run=32, attempt=1, head=None, pull=None, fingerprint=None, rows=(ROW,))
SMOKE, SWEEP = run(10, "smoke", PROPOSAL, job(1)), run(20, "sweep", ENTRY, job(2), minutes=90)
RESULT = packed({"rows.jsonl": '{"metric": "tput_per_gpu"}\n', "results/aiperf/profile.json": "{}"})


def over(*runs: Any, baseline: Baseline | None = BASE) -> Bump:
    """A validated bump with these runs, judged."""
    found = tuple(replace(judged(one), rows=(ROW,)) for one in runs)
    made = bump("proposal", "changelog", runs=runs, judgements=found, memory={"ended": Ended(
        outcome=Outcome.VALIDATED, cause=Cause.VERDICT, at=later(180), run=20)})
    return replace(made, subject=replace(made.subject, plan=replace(made.subject.plan, baseline=baseline)))


class House:
    """A wake's context with a forge that holds these artifacts, and an archive in a folder."""

    def __init__(self, folder: Path, *held: Any, archive: Any = None) -> None:
        self.said: list[str] = []
        self.forge, self.archive, self.narrate = Forge(held), archive or FolderArchive(folder), self.said.append
        self.layout, self.render = Layout(artifacts=NAMES), renderer()

    def seal(self, made: Bump, receipt: Receipt = RECEIPT) -> Evidence:
        return sealing.sealed(self, made, receipt)  # type: ignore[arg-type]

    def opened(self, made: Bump, name: str = "evidence.zip") -> zipfile.ZipFile:
        into = io.BytesIO()
        self.archive.read(made.id, name, into, 1 << 30)
        return zipfile.ZipFile(into)


def result(name: str = "bmk_r_conc4_n0", data: bytes = RESULT, number: int = 1, **changed: Any) -> Any:
    return artifact(number, name, **changed), data


def measured(name: str, data: bytes) -> Filed:
    return Filed(name=name, size=len(data), sha256=hashlib.sha256(data).hexdigest())


class TestWhatIsKept:
    def test_holds_results_and_logs_of_every_run_the_baseline_the_verdict_and_the_claim_it_was_made_under(self, tmp_path: Path) -> None:
        house, made = House(tmp_path, result(), result("server_logs_r_conc4", packed({"server.log": "up"}), 2)), over(SMOKE, SWEEP)
        found = house.seal(made)
        held = house.opened(made)
        runs = [f"runs/{folder}/{file}" for folder in ("01-smoke-10", "02-sweep-20") for file in (
            "bmk_r_conc4_n0/results/aiperf/profile.json", "bmk_r_conc4_n0/rows.jsonl", "judged.json", "rows.jsonl", "run.json",
            "server_logs_r_conc4/server.log")]
        assert held.namelist() == ["README.md", "SHA256SUMS", "baseline/baseline.json", "baseline/rows.jsonl", "chain.json",
                                   "facts.json", *runs, "verdict.json"]
        assert json.loads(held.read("chain.json")) == {"bump": "b", "n": 9, "sha256": "c" * 64}
        assert json.loads(held.read("verdict.json"))["ended"]["outcome"] == "validated"
        assert json.loads(held.read("baseline/rows.jsonl"))["value"] == 1.5
        assert found.lacking == () and found.files == len(held.namelist())

    def test_every_file_stands_in_the_sums_with_its_hash(self, tmp_path: Path) -> None:
        house, made = House(tmp_path, result()), over(SWEEP)
        house.seal(made)
        held = house.opened(made)
        sums = dict(reversed(line.split("  ")) for line in held.read("SHA256SUMS").decode().splitlines())
        assert sums == {name: hashlib.sha256(held.read(name)).hexdigest() for name in held.namelist() if name != "SHA256SUMS"}

    def test_tells_in_both_languages_what_lies_where(self, tmp_path: Path) -> None:
        house, made = House(tmp_path, result()), over(SMOKE, SWEEP)
        house.seal(made)
        page = house.opened(made).read("README.md").decode()
        for words in ("**validated**", "**已验证**", "`runs/02-sweep-20`", "Nothing is missing", "没有缺失", "c" * 64):
            assert words in page

    def test_is_named_with_the_size_and_hash_of_what_lies_there(self, tmp_path: Path) -> None:
        found = House(tmp_path, result()).seal(over(SWEEP)).filed
        data = (tmp_path / "b" / "evidence.zip").read_bytes()
        assert found and (found.name, found.size, found.sha256) == ("evidence.zip", len(data), hashlib.sha256(data).hexdigest())

    def test_takes_the_files_of_the_baselines_run_as_they_were_kept_when_the_bump_began(self, tmp_path: Path) -> None:
        data = packed({"profile_export.jsonl": "{}\n"})
        filed = measured("bmk_r_conc4_n0.zip", data)
        house, made = House(tmp_path, result(data=data)), over(SWEEP, baseline=replace(BASE, files=(filed,)))
        keep(house, made)  # type: ignore[arg-type]
        house.seal(made)
        assert "baseline/bmk_r_conc4_n0/profile_export.jsonl" in house.opened(made).namelist()

    def test_holds_what_is_no_whole_archive_as_it_came(self, tmp_path: Path) -> None:
        house, made = House(tmp_path, result(data=RESULT[:-30])), over(SWEEP)
        assert house.seal(made).lacking == ()
        assert house.opened(made).read("runs/01-sweep-20/bmk_r_conc4_n0.zip") == RESULT[:-30]


class TestOnceIsEnough:
    def test_the_same_facts_give_the_same_bytes_whatever_the_order_the_forge_lists_files_in(self, tmp_path: Path) -> None:
        held = result(), result("bmk_r_conc8_n0", number=2)
        one, two = House(tmp_path / "1", *held).seal(over(SWEEP)), House(tmp_path / "2", *reversed(held)).seal(over(SWEEP))
        assert one == two and one.filed

    def test_a_wake_that_finishes_anothers_claim_finds_what_is_there(self, tmp_path: Path) -> None:
        first, again = House(tmp_path, result()).seal(over(SWEEP)), House(tmp_path, result()).seal(over(SWEEP))
        assert first == again and [path.name for path in (tmp_path / "b").iterdir()] == ["evidence.zip"]

    def test_a_bump_that_ends_a_second_time_keeps_both(self, tmp_path: Path) -> None:
        house, made = House(tmp_path, result()), over(SWEEP)
        first, second = house.seal(made), house.seal(made, Receipt(n=14, sha256="d" * 64))
        assert first.filed and second.filed and second.filed.name == "evidence-14.zip" and first.filed.sha256 != second.filed.sha256


class TestWhatCannotBeHad:
    @pytest.mark.parametrize(("held", "what", "why"), [
        (result(expired=True), "bmk_r_conc4_n0.zip", "expired"),
        (result(data=BadInput("larger")), "bmk_r_conc4_n0.zip", "too-large"),
        (result(data=Missing("gone")), "bmk_r_conc4_n0.zip", "gone"),
        (result("coverage"), "sweep-20", "nothing-uploaded")])
    def test_is_said_in_the_record_and_in_the_archive_and_stops_nothing(self, tmp_path: Path, held: Any, what: str, why: str) -> None:
        house, made = House(tmp_path, held), over(SWEEP)
        found = house.seal(made)
        assert found.filed and [(one.what, one.why) for one in found.lacking] == [(what, why)]
        page = house.opened(made).read("README.md").decode()
        assert page.count(f"`{what}`") == 2 and "runs/01-sweep-20/rows.jsonl" in house.opened(made).namelist()

    def test_files_that_were_never_archived_and_a_baseline_that_is_none(self, tmp_path: Path) -> None:
        lost = replace(BASE, files=(measured("bmk_r_conc4_n0.zip", b"x"),), notes=("artifacts-expired",))
        for baseline, said in ((lost, {("baseline", "run-expired"), ("bmk_r_conc4_n0.zip", "not-archived")}),
                               (None, {("baseline", "no-baseline")}), (replace(BASE, run=None), {("baseline", "figures-only")})):
            found = House(tmp_path / str(len(said)), result()).seal(over(SWEEP, baseline=baseline))
            assert {(one.what, one.why) for one in found.lacking} == said

    def test_what_finds_no_room_is_left_out_whole_and_the_rest_is_kept(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sealing, "MOST", 200_000)
        house = House(tmp_path, result(data=packed({"a.log": b"x", "b.log": b"y" * 300_000})), result("eval_r_conc4_n0", number=2))
        made = over(SWEEP)
        found = house.seal(made)
        assert [(one.what, one.why) for one in found.lacking] == [("bmk_r_conc4_n0.zip", "no-room")]
        names = house.opened(made).namelist()
        assert not any("bmk_" in name for name in names) and "runs/01-sweep-20/eval_r_conc4_n0/rows.jsonl" in names

    @pytest.mark.parametrize(("error", "why"), [(Refusal("no"), "refused"), (BadInput("too large"), "refused")])
    def test_an_archive_that_will_not_is_a_word_in_the_last_report(self, tmp_path: Path, error: Exception, why: str) -> None:
        house = House(tmp_path, result(), archive=SimpleNamespace(make=raising(error)))
        assert house.seal(over(SWEEP)) == Evidence(why=why) and "no evidence is kept" in house.said[0]

    def test_a_forge_that_falls_silent_in_the_middle_leaves_no_half_of_one(self, tmp_path: Path, recwarn: Any) -> None:
        house = House(tmp_path, result(), result("eval_r_conc4_n0", data=Unreachable("later"), number=2))
        with pytest.raises(Unreachable):
            house.seal(over(SWEEP))
        assert list((tmp_path / "b").iterdir()) == [] and not recwarn.list

    def test_one_that_does_not_answer_is_asked_again_by_a_later_wake(self, tmp_path: Path) -> None:
        house = House(tmp_path, result(), archive=SimpleNamespace(make=raising(Unreachable("later"))))
        with pytest.raises(Unreachable):
            house.seal(over(SWEEP))

    def test_beside_a_ledger_that_has_no_place_for_files(self, tmp_path: Path) -> None:
        house = House(tmp_path)
        house.archive = None
        assert house.seal(over(SWEEP)) == Evidence(why="no-archive")


def raising(error: Exception) -> Any:
    def call(*_: Any) -> Any:
        raise error

    return call


def link(name: str, target: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        entry = zipfile.ZipInfo(name)
        entry.external_attr = 0o120777 << 16
        archive.writestr(entry, target)
        archive.writestr("good.log", "here")
    return made.getvalue()


class TestFilesOfStrangers:
    @pytest.mark.parametrize("data", [link("a.log", "/etc/passwd"), packed({"../a.log": "x", "good.log": "here"}),
                                      packed({"/etc/a.log": "x", "good.log": "here"}), packed({"C:\\a.log": "x", "good.log": "here"})])
    def test_that_are_links_or_lead_elsewhere_stay_out_and_it_says_so(self, tmp_path: Path, data: bytes) -> None:
        house, made = House(tmp_path, result(data=data)), over(SWEEP)
        assert [one.why for one in house.seal(made).lacking] == ["links:1"]
        assert [name for name in house.opened(made).namelist() if "bmk" in name] == ["runs/01-sweep-20/bmk_r_conc4_n0/good.log"]

    def test_bear_names_that_any_disk_takes_and_each_its_own(self, tmp_path: Path) -> None:
        house, made = House(tmp_path, result(data=packed({"a b?.log": "1", "a b*.log": "2", "A-B-.LOG": "3", "x" * 300: "4"}))), over(SWEEP)
        house.seal(made)
        names = [name.rpartition("/")[2] for name in house.opened(made).namelist() if "bmk" in name]
        assert len({name.casefold() for name in names}) == 4 and all(len(name) <= 130 for name in names)

    def test_that_unpack_to_more_than_there_is_room_for_are_never_unpacked(self) -> None:
        bomb = packed({f"{number}.log": b"\0" * 1_000_000 for number in range(9)})
        into = io.BytesIO()
        made = zipped.Zipped(into, most=2_000_000, entries=100)
        with pytest.raises(zipped.Full):
            made.unpack("x", io.BytesIO(bomb))
        assert made.files == 0 and len(into.getvalue()) < 100
