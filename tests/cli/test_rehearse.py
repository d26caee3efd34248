"""rehearse: what it shows, what it copies and keeps, and what it says of a scenario that does not hold."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import jsonschema_rs
import pytest
from msgspec.structs import replace

from bot.cli import rehearsal, stage
from bot.model.result import Baseline
from bot.strict import parse
from tests.cli import worlds
from tests.cli.conftest import STORY, Kept
from tests.cli.shell import ROOT, Done, bumpbot, on_terminal
from tests.fakes import facts

SCENARIOS = ROOT / "bot" / "rehearse" / "scenarios"
SEED = SCENARIOS / "kimi-k3-gb200"


def everything(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


RUN = sorted(("id", "attempt", "workflow", "event", "action", "reason", "conclusion", "gpu_hours"))


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """The same story with another end expected, as JSON."""
    folder = worlds.scenario_folder(tmp_path_factory.mktemp("other") / "s", story=STORY, expect="validated")
    return bumpbot("rehearse", folder, "--format", "json")


class TestWhatItShows:
    def test_runs_then_the_last_report_in_both_languages_then_how_it_ended(self, kept: Kept) -> None:
        assert kept.done.code == 0, kept.done.err
        out = kept.done.out
        order = ("toy, own", "smoke.yml", "bumpbot: uncertain", "bumpbot：无法判定", "outcome uncertain")
        parts = [out.index(text) for text in order]
        assert parts == sorted(parts)
        last = out.splitlines()[-1]
        assert re.fullmatch(r"outcome uncertain, cause [a-z-]+, repairs 0 \(as expected\); 0\.0 GPU-hours; 4 comments, \d+ edits; "
                            r"\d+ min of virtual time in \d+\.\d s", last), last

    def test_nothing_that_only_a_browser_hides_and_no_link_into_a_world_that_is_gone(self, kept: Kept) -> None:
        assert "<!--" not in kept.done.out and "127.0.0.1" not in kept.done.out and "\x1b" not in kept.done.out

    def test_piped_it_shows_no_progress(self, kept: Kept) -> None:
        assert kept.done.err.splitlines() == [
            f"kept: bumpbot --repo {kept.ledger} ledger show; the guest's repository is {kept.folder / 'guest.git'}"]

    def test_json_has_the_keys_of_the_contract(self, other: Done) -> None:
        told = other.json
        assert (told["outcome"], told["repairs_used"], told["gpu_hours"]) == ("uncertain", 0, 0)
        assert [sorted(run) for run in told["runs"]] == [RUN]
        assert [comment["kind"] for comment in told["comments"]] == ["proposal", "initial", "stop", "final"]
        assert all(sorted(comment) == ["body", "edits", "id", "kind"] for comment in told["comments"])

    def test_markdown_is_the_last_report(self, other: Done, capsys: pytest.CaptureFixture[str]) -> None:
        stage.show(other.json, "markdown", 0.0)
        shown = capsys.readouterr().out
        assert shown.startswith("bumpbot: **uncertain**") and "**无法判定**" in shown

    def test_another_end_than_expected_is_told_and_ends_with_one(self, other: Done) -> None:
        assert other.code == 1
        assert "ended otherwise than the scenario expects: outcome uncertain" in other.line
        assert "expected: outcome validated" in other.line
        assert other.json["as_expected"] is False

    def test_a_request_that_was_refused_is_among_the_troubles(self, tmp_path: Path) -> None:
        older = STORY.replace("v1.1.0", "v0.1.0")
        done = bumpbot("rehearse", worlds.scenario_folder(tmp_path / "s", story=older), "--format", "json")
        assert done.code == 1
        assert any(line.startswith("10:10 refused: ") and "v0.1.0" in line for line in done.json["troubles"])
        assert "10:10 refused: " in done.err

    def test_with_nothing_to_tell_it_says_so(self, tmp_path: Path) -> None:
        done = bumpbot("rehearse", worlds.scenario_folder(tmp_path / "s"))
        assert done.code == 1
        assert "no run was started" in done.out and "The bot wrote nothing." in done.out
        assert "the scenario expects outcome failed" in done.out.splitlines()[-1]


class TestFindings:
    """They were empty here where `plan` told of the same facts."""

    def test_are_the_plans_in_the_shape_of_a_finding(self) -> None:
        plan = facts.subject().plan
        made = Baseline(date="2026-08-21", image="old", run=7, attempt=1, head=None, pull=None, fingerprint="f", rows=(),
                        notes=("points-gone:96",))
        (gap,) = rehearsal.found(facts.bump("proposal", plan=replace(plan, baseline=made)))
        assert (gap.check, gap.class_, gap.action, gap.evidence) == ("roster", "baseline-gap", "ask", "points-gone:96")
        (gap,) = rehearsal.found(facts.bump("proposal", plan=replace(plan, missing_baseline="folder-empty:basslines")))
        assert gap.evidence == "folder-empty:basslines"

    def test_are_none_where_no_bump_was_begun(self) -> None:
        assert rehearsal.found(None) == ()


class TestOnATerminal:
    def test_a_line_follows_the_virtual_clock_and_goes(self, kept: Kept) -> None:
        columns = 80
        shown = on_terminal("rehearse", str(kept.scenario), columns=columns)
        assert "2026-01-05 10:10 UTC  workflow_dispatch" in shown
        before, _, after = shown.partition("toy, own")
        assert "\x1b[2K" in before and "UTC  workflow_dispatch" not in after, "it is wiped before the report is drawn"
        lines = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\]8;[^\\]*\\", "", line) for line in after.splitlines()[:-1]]
        assert max(map(len, lines[:-1])) <= columns


BAD = [
    ("scenario.yaml", "recipe: toy", "recipe: toy\nfoo: 1", "scenario.yaml:9: foo: unknown key"),
    ("scenario.yaml", "recipe: toy", "recipe: ghost", "scenario.yaml:8: recipe: repo/ holds no recipe 'ghost'"),
    ("scenario.yaml", "layout: own", "layout: mine", "scenario.yaml:7: layout: no preset is called 'mine'"),
    ("scenario.yaml", "gpu_hours: 40}", "gpu_hours: 40}, repairs: {known: [magic]}", "repairs.known.0: no repair is called"),
    ("scenario.yaml", "engine:v1.1.0", "engine:v1.1.0:x", "events.0.image: image reference"),
    ("scenario.yaml", "by: ada", "by: eve", "events.0.by: `eve` is nobody of accounts.people"),
    ("scenario.yaml", "version: 1", "version: [", "not YAML"),
    ("scenario.yaml", "version: 1", "version: \udcff", "cannot be read"),
    ("scenario.yaml", "    expect:", "    runs: [{id: 9, workflow: smoke.yml, event: workflow_dispatch, attempts: "
     "[{jobs: [{name: x, minutes: 1, artifacts: [a]}]}]}]\n    expect:", "no folder artifacts/9/1/a"),
    ("registry.yaml", "platforms: [linux/amd64]", "platforms: []", "registry.yaml:3"),
    ("baseline.json", "{}", "{", "baseline.json:"),
    ("repo/.github/bumpbot.yml", "version: 1", "version: 1\nfoo: 2", "repo/.github/bumpbot.yml:2: foo: unknown key"),
    ("repo/recipes/toy.yaml", "name: toy", "name: [", "repo/recipes/toy.yaml:"),
]


class TestAScenarioThatDoesNotHold:
    @pytest.mark.parametrize(("file", "old", "new", "said"), BAD, ids=[said for *_, said in BAD])
    def test_is_one_line_and_nothing_is_begun(self, tmp_path: Path, file: str, old: str, new: str, said: str) -> None:
        folder = worlds.scenario_folder(tmp_path / "s", story=STORY)
        place = folder / file
        text = place.read_text()
        assert old in text
        place.write_bytes(text.replace(old, new, 1).encode("utf-8", "surrogateescape"))
        before = everything(folder)
        done = bumpbot("rehearse", folder, "--keep", tmp_path / "kept")
        assert (done.code, done.out) == (1, "")
        assert done.line.startswith(f"bumpbot: {folder}/") and said in done.line, done.line
        assert done.line.count(str(folder)) == 1
        assert everything(folder) == before and not (tmp_path / "kept").exists()

    @pytest.mark.parametrize("name", ["scenario.yaml", "registry.yaml", "baseline.json", "repo"])
    def test_a_missing_part_is_named(self, tmp_path: Path, name: str) -> None:
        folder = worlds.scenario_folder(tmp_path / "s")
        (folder / name).rename(tmp_path / "away")
        done = bumpbot("rehearse", folder)
        assert done.code == 1
        assert done.line.startswith(f"bumpbot: {folder / name}: ") and "missing" in done.line

    def test_an_artifact_that_nobody_uploads_is_a_misspelt_name(self, tmp_path: Path) -> None:
        folder = worlds.scenario_folder(tmp_path / "s")
        (folder / "artifacts" / "9" / "1" / "logs").mkdir(parents=True)
        done = bumpbot("rehearse", folder)
        assert done.code == 1 and "no job uploads this artifact" in done.line

    def test_a_variant_it_does_not_have(self, tmp_path: Path) -> None:
        folder = worlds.scenario_folder(tmp_path / "s")
        assert "has no variant as-it-happened: it has: own" in bumpbot("rehearse", folder, "--as-it-happened").line
        (folder / "scenario.yaml").write_text((folder / "scenario.yaml").read_text().replace("  own:\n", "  as-it-happened:\n"))
        done = bumpbot("rehearse", folder)
        assert done.code == 1 and "add --as-it-happened" in done.line


class TestWhatItIsAskedFor:
    def test_a_name_that_is_none_tells_those_that_are(self) -> None:
        for argv in (("rehearse", "nope"), ("rehearse",), ("rehearse", "")):
            done = bumpbot(*argv)
            assert done.code == 2 and f"shipped: {', '.join(sorted(folder.name for folder in SCENARIOS.iterdir()))}" in done.line

    def test_one_word_too_many(self, tmp_path: Path) -> None:
        assert bumpbot("rehearse", worlds.scenario_folder(tmp_path / "s"), "more").code == 2

    def test_its_schema_takes_the_shipped_scenario_and_no_unknown_key(self) -> None:
        schema = jsonschema_rs.validator_for(bumpbot("rehearse", "--schema").json)
        told, _ = parse((SEED / "scenario.yaml").read_text(encoding="utf-8"), file="x")
        plain = json.loads(json.dumps(told, default=lambda moment: moment.isoformat()))
        assert schema.is_valid(plain)
        assert not schema.is_valid({**plain, "foo": 1})


class TestCopy:
    def test_writes_the_folder_whole_and_says_how_to_play_it(self, tmp_path: Path) -> None:
        done = bumpbot("rehearse", "--copy", "kimi-k3-gb200", tmp_path / "mine")
        assert (done.code, done.out) == (0, "")
        assert everything(tmp_path / "mine") == everything(SEED)
        assert done.line.endswith(f"bumpbot rehearse {tmp_path / 'mine'}")

    def test_of_one_that_only_tells_what_happened_names_the_option(self, tmp_path: Path) -> None:
        folder = worlds.scenario_folder(tmp_path / "s")
        (folder / "scenario.yaml").write_text((folder / "scenario.yaml").read_text().replace("  own:\n", "  as-it-happened:\n"))
        done = bumpbot("rehearse", "--copy", folder, tmp_path / "mine")
        assert done.line.endswith(f"bumpbot rehearse {tmp_path / 'mine'} --as-it-happened")

    def test_of_one_that_shares_with_another_stands_alone(self, tmp_path: Path) -> None:
        done = bumpbot("rehearse", "--copy", "moved-tag", tmp_path / "mine")
        assert done.code == 0 and sorted(path.name for path in (tmp_path / "mine").iterdir()) == [
            "artifacts", "baseline.json", "registry.yaml", "repo", "scenario.yaml", "upstream"]
        assert everything(tmp_path / "mine" / "repo") == everything(SCENARIOS / "green" / "repo")
        assert bumpbot("rehearse", "--copy", "moved-tag", SCENARIOS / "green" / "repo" / "mine").code == 2

    def test_of_one_that_shares_with_what_is_not_there_says_where_it_should_lie(self, tmp_path: Path) -> None:
        folder = worlds.scenario_folder(tmp_path / "s")
        (folder / "scenario.yaml").write_text((folder / "scenario.yaml").read_text() + "shares: world\n")
        for argv in (("rehearse", folder), ("rehearse", "--copy", folder, tmp_path / "mine")):
            done = bumpbot(*argv)
            assert done.code == 1 and f"no scenario `world` lies beside this one: put it at {tmp_path / 'world'}" in done.line
        assert not (tmp_path / "mine").exists()

    def test_of_ones_own_may_need_no_option(self, tmp_path: Path) -> None:
        done = bumpbot("rehearse", "--copy", worlds.scenario_folder(tmp_path / "s"), tmp_path / "mine")
        assert done.line.endswith(f"bumpbot rehearse {tmp_path / 'mine'}")

    def test_writes_over_nothing(self, tmp_path: Path) -> None:
        (tmp_path / "held").write_text("mine")
        for target in (tmp_path, tmp_path / "held"):
            done = bumpbot("rehearse", "--copy", "kimi-k3-gb200", target)
            assert done.code == 1 and "is not empty" in done.line
        assert everything(tmp_path) == {"held": b"mine"}

    def test_needs_a_folder_outside_what_it_copies(self, tmp_path: Path) -> None:
        folder = worlds.scenario_folder(tmp_path / "s")
        assert bumpbot("rehearse", "--copy", folder).code == 2
        assert bumpbot("rehearse", "--copy", folder, folder / "inside").code == 2

    def test_to_where_nobody_may_write(self) -> None:
        done = bumpbot("rehearse", "--copy", "kimi-k3-gb200", "/proc/nowhere")
        assert done.code == 1 and "/proc/nowhere cannot be written" in done.line


class TestKeep:
    def test_leaves_the_ledger_and_the_guests_repository(self, kept: Kept) -> None:
        branches = subprocess.run(["git", "branch", "--list", "--format=%(refname:short)"], cwd=kept.folder / "guest.git",
                                  capture_output=True, text=True, check=True).stdout.split()
        assert branches == [f"bumpbot/{kept.bump}", "main"]

    def test_takes_no_folder_that_holds_something(self, kept: Kept, tmp_path: Path) -> None:
        done = bumpbot("rehearse", kept.scenario, "--keep", kept.folder)
        assert done.code == 1 and "is not empty" in done.line
        (tmp_path / "file").write_text("")
        assert bumpbot("rehearse", kept.scenario, "--keep", tmp_path / "file").code == 2
