"""Points, rows, fingerprints, evals and the proof of scope, against what InferenceX's own generator printed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bot.errors import BadInput, Refusal
from bot.layout import Layout
from bot.model.recipe import EvalSpec, Point
from bot.recipe import evals, matrix, rows, scope
from bot.recipe.read import keys, read
from bot.recipe.shelf import Shelf

DATA = Path(__file__).parent / "data"
DCP16 = "kimik3-fp4-gb200-dynamo-vllm-agentic-dspark-mooncake-dcp16-agg"
PRINTED = json.loads((DATA / "rows.json").read_text())
FINGERPRINT = "a295bb2c321dd5df3fdb8c66ab5832bc7a22e170f57f03ee1652deac41317160"


def canonical(made: list[Any]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in made)


class TestTheGeneratorsRows:
    @pytest.mark.parametrize("key", PRINTED)
    def test_are_computed_again_exactly(self, excerpt: Any, inferencex: Layout, key: str) -> None:
        shelf = Shelf(excerpt)
        made = matrix.generated(shelf, inferencex, shelf.home(inferencex, key))
        assert canonical(made) == canonical(PRINTED[key]["rows"])

    @pytest.mark.parametrize("key", PRINTED)
    def test_are_gated_at_the_same_cells(self, inferencex: Layout, key: str) -> None:
        made = PRINTED[key]["rows"]
        picked = [[made[at]["exp-name"], conc] for at, conc in evals.chosen(made, inferencex.evals.at_least)]
        assert sorted(picked) == sorted(PRINTED[key]["evals"])

    def test_the_published_fingerprint_of_the_seed_comes_out(self, excerpt: Any, inferencex: Layout) -> None:
        found = matrix.points(excerpt, inferencex, DCP16)
        assert {point.fingerprint for point in found} == {FINGERPRINT}
        assert [point.concurrency for point in found if point.kind == "throughput"] == [1, 2, 4, 8, 16]
        assert [(point.concurrency, point.eval) for point in found if point.kind == "eval"] == [
            (16, EvalSpec(task="gsm8k", threshold=0.9))]
        assert {(point.gpus, point.topology, point.workload, point.hardware, point.runner) for point in found} == {
            (16, "TP16/DCP16", "agentic-coding", "gb200", "cluster:gb200-nv")}

    def test_the_whole_repository_has_1820_rows_and_645_evals(self, snapshot: Any, inferencex: Layout) -> None:
        shelf = Shelf(snapshot)
        made = [row for home in shelf.homes(inferencex).values() for row in matrix.generated(shelf, inferencex, home)]
        assert len(made) == 1820 and len(evals.chosen(made, 16)) == 645
        assert {matrix.fingerprint(row) for row in made if row["exp-name"].startswith("kimik3_p1x16_d0x16")} >= {FINGERPRINT}


class TestHostMemory:
    MACHINES = {"m": {"available-cpu-dram-mib": 860_160, "gpus-per-node": 4}, "big": {"available-cpu-dram-mib": 3_095_781,
                                                                                      "gpus-per-node": 8}}

    @pytest.mark.parametrize(("runner", "share", "space", "gb"), [
        ("m", 0.1065, {"prefill": {"tp": 16}}, 96), ("m", 0.5, {"tp": 2}, 225), ("big", 0.95, {"tp": 8}, 2849),
        ("big", 0.8, {"tp": 4, "pp": 2}, 2399), ("m", 0.5, {"worker": {"tp": 4}}, 450)])
    def test_is_the_share_of_the_node_rounded_down(self, runner: str, share: float, space: dict[str, Any], gb: int) -> None:
        space = {"kv-offloading": "dram", **space}
        assert rows.host_gb({"dram-utilization": share}, space, runner, self.MACHINES) == gb

    def test_is_nothing_without_offload(self) -> None:
        assert rows.host_gb({}, {"tp": 8, "kv-offloading": "none"}, "unknown", {}) == 0

    @pytest.mark.parametrize(("runner", "block", "word"), [
        ("x", {"dram-utilization": 0.5}, "no host memory"), ("m", {}, "utilization")])
    def test_what_is_missing_is_said(self, runner: str, block: dict[str, Any], word: str) -> None:
        with pytest.raises(BadInput, match=word):
            rows.host_gb(block, {"kv-offloading": "dram", "tp": 4}, runner, self.MACHINES)


class TestPoints:
    def test_two_roles_are_told_apart(self) -> None:
        row = {"prefill": {"num-worker": 2, "tp": 8, "ep": 8, "dp-attn": True, "pp": 2}, "decode": {"num-worker": 4, "tp": 4}}
        assert matrix.topology(row) == "2P(TP8/PP2/EP8/DPA) x 4D(TP4)" and rows.gpus(row) == 2 * 16 + 4 * 4

    def test_a_broken_entry_is_one_line(self, make_tree: Any, inferencex: Layout) -> None:
        text = b"k1:\n  image: a/b:1\n  scenarios:\n    fixed-seq-len:\n    - {isl: 1024, osl: 1024, search-space: [{tp: 8}]}\n"
        with pytest.raises(BadInput, match="configs/amd-master.yaml:2: k1: no matrix can be made: `model` is missing"):
            matrix.points(make_tree({"configs/amd-master.yaml": text}), inferencex, "k1")

    @pytest.mark.parametrize(("task", "prefix", "score"), [
        ("gsm8k", "dsv4", 0.91), ("gsm8k", "kimik3", 0.9), ("new", "dsv4", 0.85)])
    def test_thresholds_are_the_models_else_the_tasks(self, excerpt: Any, task: str, prefix: str, score: float) -> None:
        table = Shelf(excerpt).plain("utils/evals/thresholds.yaml")
        assert evals.threshold(task, prefix, table, 0.85) == score

    def test_smoke_asks_the_sweeps_own_gate_first(self, excerpt: Any, inferencex: Layout) -> None:
        found = matrix.points(excerpt, inferencex, DCP16)
        staged = matrix.smoke(found, sample=100)
        assert [(point.stage, point.kind, point.concurrency) for point in staged] == [
            (1, "eval", 16), (2, "throughput", 1), (3, "throughput", 16)]
        gate = staged[0].eval
        assert gate == EvalSpec(task="gsm8k", threshold=0.9, limit=100)

    def test_every_id_is_its_own(self, snapshot: Any, inferencex: Layout) -> None:
        shelf = Shelf(snapshot)
        ids = [point.id for key in keys(shelf, inferencex) for point in matrix.points(shelf, inferencex, key)]
        assert len(ids) == len(set(ids))


class TestScope:
    @pytest.fixture
    def before(self, excerpt: Any, inferencex: Layout) -> list[Point]:
        return [point for key in keys(excerpt, inferencex) for point in matrix.points(excerpt, inferencex, key)]

    def changed(self, excerpt: Any, layout: Layout, old: str, new: str) -> list[Point]:
        text = excerpt.files["configs/nvidia-master.yaml"].decode()
        assert text.count(old) >= 1
        tree = excerpt.after({"configs/nvidia-master.yaml": text.replace(old, new, 1).encode()})
        return [point for key in keys(tree, layout) for point in matrix.points(tree, layout, key)]

    def test_nothing_changed(self, before: list[Point]) -> None:
        same = scope.compare(before, list(reversed(before)), {DCP16})
        assert (same.changed_rows, same.other_rows_changed, same.only_image) == (0, 0, True)

    @pytest.mark.parametrize(("old", "new"), [
        ("SYNTHETIC_ACCEPTANCE_LENGTH=3.36", "SYNTHETIC_ACCEPTANCE_LENGTH=3.00"),
        ("conc-list: [1, 2, 4, 8, 16]", "conc-list: [1, 2, 4, 8]"),
        ("dram-utilization: 0.1065", "dram-utilization: 0.2"), ("conc-list: [1, 2, 4, 8, 16]", "conc-list: [1, 2, 4, 8, 16, 16]")])
    def test_more_than_the_image_is_seen(self, before: list[Point], excerpt: Any, inferencex: Layout, old: str, new: str) -> None:
        found = scope.compare(before, self.changed(excerpt, inferencex, old, new), {DCP16})
        assert not found.only_image and found.changed_rows > 0

    def test_a_neighbours_image_is_seen(self, before: list[Point], excerpt: Any, inferencex: Layout) -> None:
        after = self.changed(excerpt, inferencex, "vllm/vllm-openai:v0.25.0", "vllm/vllm-openai:v0.26.0")
        found = scope.compare(before, after, {DCP16})
        assert found.changed_rows == 0 and found.other_rows_changed > 0

    def test_a_gate_made_easier_is_seen(self, before: list[Point]) -> None:
        after = [msgspec.structs.replace(point, eval=msgspec.structs.replace(point.eval, threshold=0.1)) if point.eval else point
                 for point in before]
        assert not scope.compare(before, after, {DCP16}).only_image


class TestReading:
    def test_people_read_what_the_seed_told(self, excerpt: Any, inferencex: Layout) -> None:
        recipe = read(excerpt, inferencex, DCP16)
        assert (recipe.model, recipe.hardware, recipe.framework, recipe.precision) == (
            "moonshotai/Kimi-K3", "gb200", "dynamo-vllm", "fp4")
        assert {name: recipe.settings[name] for name in (
            "topology", "nodes", "gpus", "speculation", "speculative-tokens", "synthetic-acceptance", "offload", "offload-backend",
            "offload-gb", "max-num-seqs", "dynamo", "scenario", "mode")} == {
            "topology": "TP16/DCP16", "nodes": "4", "gpus": "16", "speculation": "dspark", "speculative-tokens": "4",
            "synthetic-acceptance": "3.36", "offload": "dram", "offload-backend": "mooncake", "offload-gb": "96",
            "max-num-seqs": "2", "dynamo": "ba83080ecd31c1ce918559e576d3c5bc9e092ff1", "scenario": "agentic-coding",
            "mode": "aggregated"}
        assert recipe.notes == () and len(recipe.sites) == 3 and len(recipe.linked) == 1

    def test_keys_come_in_file_order(self, excerpt: Any, inferencex: Layout) -> None:
        assert set(keys(excerpt, inferencex)) == set(PRINTED)


OWN = """name: glm5.3flash-fp8-h200-sglang-tp4ep4-mtp5
image: lmsysorg/sglang:v0.5.21@sha256:b1259f3ea3275f66237c498ea388919729018bc9f01c3d638391e06e2cf3f469
engine: {name: sglang, source: https://github.com/sgl-project/sglang}
model: {repo: zai-org/GLM-5.3-Flash, revision: eb9eb208eb0d988989d07a6a12d0fdeb5f52574a, weights: fp8, kv: bfloat16}
hardware: {gpu: h200, gpus: 4, runner: [self-hosted, h200]}
serve:
  args: {tp: 4, ep: 4, context-length: 32768, chunked-prefill-size: 4096, mem-fraction-static: 0.78, max-running-requests: 64}
  env: {}
workload: {kind: chat, output: 256, requests: {1: 8, 16: 32, 64: 256, 128: 512}, repeats: 3}
evals: [{task: gsm8k, threshold: 0.90, metric: "exact_match,strict-match"}]
gates: {failed_requests: 0.10}
policy: {channel: stable, minimum-age-days: 2}
"""


class TestOwnRecipes:
    def test_become_points(self, make_tree: Any, own: Layout) -> None:
        recipe = read(make_tree({"recipes/a.yaml": OWN.encode()}), own, "glm5.3flash-fp8-h200-sglang-tp4ep4-mtp5")
        assert [(point.kind, point.concurrency, point.gpus, point.topology) for point in recipe.points] == [
            ("throughput", 1, 4, "TP4/EP4"), ("throughput", 16, 4, "TP4/EP4"), ("throughput", 64, 4, "TP4/EP4"),
            ("throughput", 128, 4, "TP4/EP4"), ("eval", 128, 4, "TP4/EP4")]
        assert recipe.points[-1].eval == EvalSpec(task="gsm8k", threshold=0.9)
        assert (recipe.model, recipe.hardware, recipe.framework) == ("zai-org/GLM-5.3-Flash", "h200", "sglang")

    def test_the_fingerprint_covers_what_runs_and_not_the_policy(self, make_tree: Any, own: Layout) -> None:
        def prints(text: str) -> set[str]:
            tree = make_tree({"recipes/a.yaml": text.encode()})
            return {point.fingerprint for point in matrix.points(tree, own, "glm5.3flash-fp8-h200-sglang-tp4ep4-mtp5")}

        assert prints(OWN) == prints(OWN.replace("minimum-age-days: 2", "minimum-age-days: 9"))
        assert not prints(OWN) & prints(OWN.replace("ep: 4", "ep: 2"))
        assert not prints(OWN) & prints(OWN.replace("v0.5.21", "v0.5.22"))

    @pytest.mark.parametrize(("old", "new", "place"), [
        ("gpus: 4", "gpu_count: 4", "recipes/a.yaml:5: hardware"),
        ("threshold: 0.90", "threshold: 90", "recipes/a.yaml:10: evals.0.threshold"),
        ("channel: stable", "channel: pinned", "policy.reason"), ("repeats: 3", "repeats: 0", "workload.repeats"),
        ("requests: {1: 8, 16: 32, 64: 256, 128: 512}", "requests: {}", "workload.requests")])
    def test_faults_name_file_line_and_key(self, make_tree: Any, own: Layout, old: str, new: str, place: str) -> None:
        tree = make_tree({"recipes/a.yaml": OWN.replace(old, new).encode()})
        with pytest.raises(BadInput, match=place):
            matrix.points(tree, own, "glm5.3flash-fp8-h200-sglang-tp4ep4-mtp5")

    @pytest.mark.parametrize(("asked", "hint"), [
        ("flash", "did you mean glm5.3flash-fp8-h200-sglang-tp4ep4-mtp5?"),
        ("glm5.3flash-fp8-h100-sglang-tp4ep4-mtp5", "did you mean glm5.3flash-fp8-h200-sglang-tp4ep4-mtp5?"),
        ("nope", "known: glm5.3flash-fp8-h200-sglang-tp4ep4-mtp5, m-0, m-1 and 2 more"),
    ])
    def test_an_unknown_name_is_refused_with_what_was_meant(self, make_tree: Any, own: Layout, asked: str, hint: str) -> None:
        files = {"recipes/a.yaml": OWN.encode()}
        files |= {f"recipes/m-{n}.yaml": re.sub("glm5.3flash-fp8-h200-sglang-tp4ep4-mtp5", f"m-{n}", OWN).encode() for n in range(4)}
        with pytest.raises(Refusal, match=f"no recipe is called {re.escape(asked)}: {re.escape(hint)}"):
            read(make_tree(files), own, asked)

    def test_where_there_are_none_the_layout_is_named(self, make_tree: Any, own: Layout) -> None:
        with pytest.raises(Refusal, match="the layout finds none here"):
            read(make_tree({"README.md": b""}), own, "nope")


class TestTheStagesOfASmoke:
    """Two recipes of three levels, each with one eval at the highest."""

    FOUND = tuple(
        Point(id=f"{recipe}/{kind}/c{level}", recipe=recipe, kind=kind, image="i", hardware="h200", gpus=4, topology="TP4", workload="chat",
              concurrency=level, runner="h200", fingerprint="f", eval=EvalSpec(task="gsm8k", threshold=0.9) if kind == "eval" else None)
        for recipe in ("x", "x-mtp") for kind, level in (("throughput", 16), ("throughput", 1), ("throughput", 64), ("eval", 64))
    )

    def told(self, *stages: str, sample: int = 50) -> list[tuple[int | None, str, int | None]]:
        return [(point.stage, point.id, point.eval.limit if point.eval else None)
                for point in matrix.smoke(self.FOUND, sample=sample, stages=stages)]

    def test_are_cheap_first_and_the_same_of_every_recipe(self) -> None:
        assert self.told("evals", "lowest", "highest") == [
            (1, "x/eval/c64", 50), (1, "x-mtp/eval/c64", 50), (2, "x/throughput/c1", None), (2, "x-mtp/throughput/c1", None),
            (3, "x/throughput/c64", None), (3, "x-mtp/throughput/c64", None)]

    def test_a_guest_that_trims_itself_runs_the_lowest_point_and_its_eval_whole(self) -> None:
        assert self.told("trim") == [(1, "x/throughput/c1", None), (1, "x/eval/c64", None), (1, "x-mtp/throughput/c1", None),
                                     (1, "x-mtp/eval/c64", None)]
