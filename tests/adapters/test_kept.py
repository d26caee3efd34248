"""Baselines kept as files of a repository: which rows are a recipe's, of which day, and what is said of files that do not hold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.kept import FolderBaselines
from bot.errors import BadInput
from bot.results.metrics import parse
from tests.fakes import asked

METRICS = parse((Path(__file__).parents[2] / "bot" / "knowledge" / "metrics.yaml").read_text(encoding="utf-8"))
IMAGE, PRINT = f"lmsysorg/sglang:v1.0@sha256:{'a' * 64}", "f1" * 32


class Files:
    """A tree of a few files; `asked` counts looks at its folder."""

    def __init__(self, files: dict[str, Any]) -> None:
        self.asked = 0
        self._files = {path: told if isinstance(told, bytes) else "".join(json.dumps(row) + "\n" for row in told).encode()
                       if path.endswith(".jsonl") else json.dumps(told).encode() for path, told in files.items()}

    def read(self, path: str) -> bytes | None:
        return self._files.get(path)

    def paths(self, prefix: str = "") -> Sequence[str]:
        self.asked += 1
        return sorted(path for path in self._files if path.startswith(prefix))


def row(conc: int = 16, value: float = 100.0, *, recipe: str = "toy", fingerprint: str = PRINT, image: str | None = IMAGE,
        run: int | None = 7, **more: Any) -> dict[str, Any]:
    point = {"recipe": recipe, "concurrency": conc, "workload": "chat", "topology": "TP4", "fingerprint": fingerprint}
    return {"point": point, "metric": "tput_per_gpu", "value": value, "unit": "tok/s/GPU", "run": run, "attempt": 1, "image": image, **more}


def baseline(files: dict[str, Any], **more: str) -> Any:
    ask = {"model": "acme/toy", "image": IMAGE, "fingerprint": PRINT, **more}
    return asked.baseline(FolderBaselines(lambda: Files(files), "baselines/", METRICS), "toy", **ask)


class TestRowsOfADay:
    def test_are_the_recipes_baseline_with_their_day_and_run(self) -> None:
        found = baseline({"baselines/2026-09-01/toy.jsonl": [row(1, 20.0), row(16, 100.0, head="c" * 40)]})
        assert (found.date, found.run, found.attempt, found.image) == ("2026-09-01", 7, 1, IMAGE)
        assert [(one.point.concurrency, one.value) for one in found.rows] == [(1, 20.0), (16, 100.0)]
        assert (found.source, found.notes) == ("baselines/", ())

    @pytest.mark.parametrize("said", [{"topology": "TP8"}, {"workload": "agentic-coding"}])
    def test_of_another_topology_or_workload_are_not_whatever_their_fingerprint(self, said: dict[str, str]) -> None:
        other = row(16)
        other["point"] |= said
        found = baseline({"baselines/2026-09-01/toy.jsonl": [row(1), other]}, topology="TP4", workload="chat")
        assert [one.point.concurrency for one in found.rows] == [1]

    def test_an_eval_is_one_of_them(self) -> None:
        score = row(16, 0.96, metric="eval", unit="share", task="gsm8k", stat="strict", n=100, correct=96)
        assert [one.task for one in baseline({"baselines/2026-09-01/toy.jsonl": [row(), score]}).rows] == [None, "gsm8k"]

    def test_the_newest_day_counts_and_earlier_ones_stand_behind_it(self) -> None:
        found = baseline({"baselines/2026-09-01/toy.jsonl": [row(value=100.0)],
                          "baselines/2026-09-21-again.json": {"rows": [row(value=101.0, run=9)]},
                          "baselines/2026-09-11/toy.jsonl": [row(value=99.0, run=8)]})
        assert (found.date, found.run, [one.value for one in found.rows]) == ("2026-09-21", 9, [101.0, 99.0, 100.0])

    def test_measured_twice_on_a_day_the_newest_run_counts_at_each_point(self) -> None:
        found = baseline({"baselines/2026-09-01/one.jsonl": [row(1, 20.0), row(16, 100.0)], "baselines/2026-09-01/two.jsonl": [row(16, 90.0, run=8)]})
        assert [(one.point.concurrency, one.value) for one in found.rows] == [(1, 20.0), (16, 90.0), (16, 100.0)]
        assert (found.run, found.notes) == (8, ("points-from-runs:7, 8",))

    def test_without_a_run_a_note_says_so(self) -> None:
        assert baseline({"baselines/2026-09-01/toy.jsonl": [row(run=None)]}).notes == ("run-unpublished",)

    def test_an_image_may_be_spelt_in_another_way(self) -> None:
        assert baseline({"baselines/2026-09-01/toy.jsonl": [row(image=f"docker.io/{IMAGE}")]}) is not None


NOT_OURS = {
    "another recipe's": {"recipe": "toy-mtp"},
    "of the recipe before it changed": {"fingerprint": "e0" * 32},
    "of another image": {"image": f"lmsysorg/sglang:v1.0@sha256:{'b' * 64}"},
    "of an image that is not told": {"image": None},
}


class TestRowsThatAreNotTheRecipes:
    @pytest.mark.parametrize("why", NOT_OURS)
    def test_are_no_baseline(self, why: str) -> None:
        assert baseline({"baselines/2026-09-01/toy.jsonl": [row(**NOT_OURS[why])]}) is None

    def test_nor_is_a_file_beside_the_folder_or_of_another_kind(self) -> None:
        assert baseline({"baselines-old/2026-09-01/toy.jsonl": [row()], "baselines/2026-09-01/README.md": b"rows: see above"}) is None

    def test_nothing_is_looked_at_before_it_is_asked_for(self) -> None:
        files = Files({})
        port = FolderBaselines(lambda: files, "baselines", METRICS)
        assert files.asked == 0
        assert asked.baseline(port, "toy", image=IMAGE, fingerprint=PRINT) is None and files.asked > 0


class TestASingleFile:
    def test_may_be_named_in_place_of_a_folder(self) -> None:
        files = Files({"kept/2026-09-01.jsonl": [row()], "kept/2026-09-02.jsonl": [row(value=1.0, run=9)]})
        found = asked.baseline(FolderBaselines(lambda: files, "kept/2026-09-01.jsonl", METRICS), "toy", image=IMAGE, fingerprint=PRINT)
        assert [one.value for one in found.rows] == [100.0]


class TestAnswersOfTheApi:
    def test_kept_in_a_file_are_read_too(self) -> None:
        told = {"conc": 16, "image": IMAGE, "recipe_fingerprint": PRINT, "date": "2026-09-05", "benchmark_type": "chat", "tp": 4,
                "run_url": "https://forge.example/o/n/actions/runs/9/attempts/2", "metrics": {"tput_per_gpu": 97.5}}
        found = baseline({"baselines/answers.json": {"benchmarks": [told]}, "baselines/2026-09-01/toy.jsonl": [row()]})
        assert (found.date, found.run, found.attempt, [one.value for one in found.rows]) == ("2026-09-05", 9, 2, [97.5, 100.0])


# path -> (content, what is said)
BROKEN = {
    "baselines/toy.jsonl": ([row()], r"baselines/toy.jsonl: no day stands in its path: keep it under the day"),
    "baselines/2026-13-01/toy.jsonl": ([row()], "no day stands in its path"),
    "baselines/2026-09-01/toy.jsonl": ([row(), row()], r"toy.jsonl:2: .*stands twice"),
    "baselines/2026-09-01/other.json": ({"speed": 3}, "no list of `benchmarks`"),
    "baselines/2026-09-02/bytes.json": (b"\xff\xfe", "not UTF-8"),
    "baselines/2026-09-03/hello.jsonl": (b"hello\n", "hello.jsonl:1: not JSON"),
    "baselines/2026-09-03/other.jsonl": (b'{"a":1}\n', "other.jsonl:1"),
    "baselines/2026-09-03/empty.jsonl": (b"\n", "no row stands in it"),
    "baselines/2026-09-03/twice.jsonl": (b'{"point":{},"point":{}}\n', "twice.jsonl:1"),
    "baselines/2026-09-03/nul.jsonl": (b"\x00\x01\n", "nul.jsonl:1"),
}


class TestRowsOfAMetricThatNobodyKnows:
    def test_are_passed_over_with_a_note(self) -> None:
        found = baseline({"baselines/2026-09-01/toy.jsonl": [row(), row(metric="speed"), row(metric="<b>`")]})
        assert [one.metric for one in found.rows] == ["tput_per_gpu"] and "metrics-unknown:?, speed" in found.notes


class TestFilesThatDoNotHold:
    @pytest.mark.parametrize("path", BROKEN)
    def test_are_told_with_their_path(self, path: str) -> None:
        content, said = BROKEN[path]
        with pytest.raises(BadInput, match=said):
            baseline({path: content})


class TestAFolderThatIsNone:
    """A misspelt folder was a baseline that nobody ever saw missing."""

    def test_is_the_reason_for_no_baseline(self) -> None:
        source = FolderBaselines(lambda: Files({"basis/2026-09-01/toy.jsonl": [row()]}), "baselines/", METRICS)
        assert source.offer(asked.asked("toy", model="acme/toy", image=IMAGE, fingerprint=PRINT)).notes == ("folder-empty:baselines",)

    def test_is_not_said_of_one_that_holds_rows_of_others(self) -> None:
        source = FolderBaselines(lambda: Files({"baselines/2026-09-01/toy.jsonl": [row(recipe="other")]}), "baselines/", METRICS)
        assert source.offer(asked.asked("toy", model="acme/toy", image=IMAGE, fingerprint=PRINT)).notes == ()


class TestUnits:
    def test_are_turned_into_the_metrics_own(self) -> None:
        ms = {**row(), "metric": "ttft", "value": 250.0, "unit": "ms"}
        (found,) = baseline({"baselines/2026-09-01/toy.jsonl": [ms]}).rows
        assert (found.value, found.unit) == (0.25, "s")

    @pytest.mark.parametrize("unit", ["ms", "", None])
    def test_that_are_wrong_or_missing_refuse_the_file_with_its_name_and_the_point(self, unit: str | None) -> None:
        with pytest.raises(BadInput) as refused:
            baseline({"baselines/2026-09-01/toy.jsonl": [{**row(), "unit": unit}]})
        assert (refused.value.file, refused.value.key) == ("baselines/2026-09-01/toy.jsonl", "unit")
        assert "tput_per_gpu" in str(refused.value) and "16" in str(refused.value)
