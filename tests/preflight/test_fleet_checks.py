"""Runners, staging and capacity: what the machines are like, as far as anybody says; what nobody says stops nothing."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from bot.model.preflight import Load, Staged
from bot.model.settings import Runner
from bot.model.upstream import Sibling
from bot.preflight import capacity, runners, staging
from tests.preflight.worlds import LABEL, NOW, clean, facts, only, point, recipe

ALIVE = Runner(name="h200-dgxc-slurm_0", labels=("self-hosted", LABEL), online=True)
FLEET = {LABEL: ("h200-dgxc-slurm_0", "h200-dgxc-slurm_1")}
SQUASH = "vllm_vllm-openai_v0.29.0.sqsh"


class TestRunners:
    def test_with_the_label_are_enough(self) -> None:
        assert clean(runners.check(facts(runners=(ALIVE,))))

    def test_that_nobody_has_any_more_ask(self) -> None:
        """#2880, #2883: the label was retired; a sweep can never be scheduled."""
        found = only(runners.check(facts(runners=(Runner(name="x", labels=("b200",), online=True),))))
        assert (found.action, found.class_, found.check) == ("ask", "runner-retired", "runners")
        assert LABEL in found.evidence and found.release is not None and found.release.subject == LABEL

    def test_that_are_all_offline_are_told(self) -> None:
        found = only(runners.check(facts(runners=(Runner(name="x", labels=(LABEL,), online=False),))))
        assert (found.action, found.class_) == ("note", None)

    def test_need_every_label_of_a_recipe_of_ours(self) -> None:
        ours = recipe(point(1, runner="self-hosted,h200"))
        assert clean(runners.check(facts(ours, runners=(Runner(name="x", labels=("self-hosted", "H200"), online=True),))))
        assert only(runners.check(facts(ours, runners=(Runner(name="x", labels=("h200",), online=True),)))).action == "ask"

    def test_of_the_forge_itself_need_no_registration(self) -> None:
        assert clean(runners.check(facts(recipe(point(1, runner="ubuntu-24.04")), runners=())))

    @pytest.mark.parametrize("declared", [None, {}, {"b200": ("b200-dgxc_00",)}])
    def test_are_unknown_where_the_list_is_hidden_and_the_file_does_not_name_the_label(self, declared: Any) -> None:
        """8 recipes of InferenceX run under labels that runners.yaml does not define."""
        checked = runners.check(facts(declared_labels=declared, unknown={"runners": "needs:Administration: read"}))
        assert checked.findings == () and checked.unknown is not None and "Administration: read" in checked.unknown.en

    def test_are_unknown_where_part_of_the_list_is_hidden(self) -> None:
        checked = runners.check(facts(runners=(), unknown={"runners": "needs:the organisation"}))
        assert checked.findings == () and checked.unknown is not None

    def test_that_the_file_declares_are_taken_for_alive_without_a_list(self) -> None:
        assert clean(runners.check(facts(declared_labels=FLEET)))

    def test_of_a_label_that_the_file_leaves_empty_ask(self) -> None:
        assert only(runners.check(facts(declared_labels={LABEL: ()}))).class_ == "runner-retired"

    def test_are_unknown_for_a_recipe_without_points(self) -> None:
        checked = runners.check(facts(replace(recipe(), points=()), runners=()))
        assert checked.findings == () and checked.unknown is not None


def staged(**more: Any) -> Staged:
    return Staged(**{"runner": "h200-dgxc", "source": "staged.yaml", **more})


class TestAnImage:
    @pytest.mark.parametrize("name", [
        SQUASH, f"/data/containers/{SQUASH}", "vllm+vllm-openai+v0.29.0.sqsh", "vllm/vllm-openai:v0.29.0",
        "docker.io/vllm/vllm-openai:v0.29.0",
    ])
    def test_is_there_by_any_spelling_of_its_name(self, name: str) -> None:
        assert staging.check(facts(staged=(staged(images=("other.sqsh", name)),))).findings == ()

    def test_that_is_not_there_stops(self) -> None:
        """#2919: the squash was not there, and the launcher imports for another model alone."""
        checked = staging.check(facts(staged=(staged(images=("vllm_vllm-openai_kimi-k3.sqsh",), imports=("glm5.2",), at=NOW),)))
        found = only(checked)
        assert (found.action, found.class_, found.who) == ("stop", "model-not-staged", "operator")
        assert found.where == "staged.yaml (2026-09-10 06:40Z)" and "vllm/vllm-openai:v0.29.0" in found.evidence
        assert found.release is not None and found.release.subject == "h200-dgxc vllm/vllm-openai:v0.29.0"

    @pytest.mark.parametrize("globs", [("kimik3",), ("*",), ("glm5.2", "kimi*")])
    def test_that_the_launcher_fetches_need_not_be_there(self, globs: tuple[str, ...]) -> None:
        assert staging.check(facts(staged=(staged(images=(), imports=globs),))).findings == ()

    def test_is_another_file_with_its_digest(self) -> None:
        pinned = "vllm/vllm-openai:v0.29.0@sha256:" + "ab" * 32
        assert only(staging.check(facts(text=pinned, staged=(staged(images=(SQUASH,)),)))).action == "stop"

    def test_is_told_by_its_name_without_the_registry(self) -> None:
        text = "nvcr.io#nvidia/tensorrt-llm/release:1.3.0rc27"
        told = staged(images=("nvidia+tensorrt-llm+release+1.3.0rc27.sqsh",))
        assert staging.check(facts(text=text, registry="nvcr.io", staged=(told,))).findings == ()

    def test_is_asked_for_where_people_stage_it_and_nobody_lists_it(self) -> None:
        found = only(staging.check(facts(staged=(staged(by_hand=True, source="runners/launch_h200-dgxc-slurm.sh:144"),))))
        assert (found.action, found.where) == ("ask", "runners/launch_h200-dgxc-slurm.sh:144")

    def test_may_lie_there_where_a_sibling_runs_it(self) -> None:
        sibling = Sibling(recipe="x", image="i", same="tag", hardware="h200")
        checked = staging.check(facts(staged=(staged(by_hand=True),), siblings=(sibling,)))
        assert checked.findings == () and checked.unknown is not None


class TestAModel:
    @pytest.mark.parametrize("name", ["moonshotai/Kimi-K3", "Kimi-K3", "/models/hub/kimi-k3", "kimik3", "kimik3-fp4"])
    def test_is_there_by_any_name_that_launchers_use(self, name: str) -> None:
        assert clean(staging.check(facts(staged=(staged(images=(SQUASH,), models=("GLM-5", name)),))))

    def test_that_is_not_there_stops(self) -> None:
        found = only(staging.check(facts(staged=(staged(images=(SQUASH,), models=("GLM-5",)),))))
        assert (found.action, found.class_) == ("stop", "model-not-staged") and "moonshotai/Kimi-K3" in found.evidence

    def test_that_two_jobs_would_fetch_at_once_stops(self) -> None:
        """#2951: two jobs downloaded into one directory and left half a checkpoint, whose tokenizer could not be read."""
        found = only(staging.check(facts(staged=(staged(images=(SQUASH,), models=(), downloads=("*",)),))))
        assert found.action == "stop" and "4 jobs would fetch it at once" in found.evidence

    @pytest.mark.parametrize(("points", "locked"), [(4, True), (1, False)])
    def test_that_one_job_fetches_alone_does_not(self, points: int, locked: bool) -> None:
        one = recipe(*(point(number) for number in range(1, points + 1)))
        told = staged(images=(SQUASH,), models=(), downloads=("kimi*",), locked=locked)
        assert staging.check(facts(one, staged=(told,))).findings == ()

    def test_is_looked_for_by_the_whole_family(self) -> None:
        other = recipe(key="glm", model="zai-org/GLM-6", prefix="glm6")
        found = only(staging.check(facts(recipe(), other, staged=(staged(images=(SQUASH,), models=("Kimi-K3",)),))))
        assert "zai-org/GLM-6" in found.evidence


class TestStagingElsewhere:
    def test_says_nothing_of_this_fleet(self) -> None:
        checked = staging.check(facts(staged=(Staged(runner="b300-nv", images=(), models=()),)))
        assert checked.findings == () and checked.unknown is not None

    def test_is_not_asked_where_the_layout_names_no_source(self) -> None:
        assert staging.check(facts()).unknown is not None

    def test_on_one_of_several_fleets_is_a_note(self) -> None:
        """#2955 ran its benchmarks on one cluster and its evals on another."""
        broad = recipe(point(1, runner="h200"), point(2, runner="h200"))
        declared = {"h200": ("h200-cw_00", "h200-cw_01", "h200-dgxc-slurm_0")}
        told = (Staged(runner="h200-cw", images=()), Staged(runner="h200-dgxc-slurm", images=(SQUASH,)))
        assert only(staging.check(facts(broad, declared_labels=declared, staged=told))).action == "note"
        everywhere = (Staged(runner="h200*", images=()),)
        assert only(staging.check(facts(broad, declared_labels=declared, staged=everywhere))).action == "stop"


class TestCapacity:
    @pytest.mark.parametrize(("nodes", "idle", "stops"), [
        (10, 3, False), (10, 2, True), (10, 1, True), (4, 1, False), (4, 0, True), (1, 1, False), (6, 1, True),
    ])
    def test_is_there_below_the_limit_with_one_node_idle(self, nodes: int, idle: int, stops: bool) -> None:
        checked = capacity.check(facts(loads=(Load(cluster="h200-dgxc", nodes=nodes, idle=idle),)))
        assert [found.action for found in checked.findings] == ["stop"] * stops

    def test_that_is_not_there_tells_moment_and_figures(self) -> None:
        """#2908: the gate flipped between two looks, minutes apart."""
        found = only(capacity.check(facts(loads=(Load(cluster="cluster:h200-dgxc", nodes=14, idle=1, queued=3, source="runners"),))))
        assert (found.class_, found.who, found.where) == ("capacity", "bot", "runners")
        assert found.evidence == "cluster:h200-dgxc: 93% used, 1 of 14 nodes idle, 3 queued, 2026-09-10 06:40Z"

    def test_keeps_to_what_the_layout_asks(self) -> None:
        load = (Load(cluster="h200-dgxc", nodes=10, idle=2),)
        assert clean(capacity.check(facts(loads=load, capacity_limit=0.9)))
        assert capacity.check(facts(loads=load, capacity_limit=0.7)).findings
        assert capacity.check(facts(loads=load, capacity_limit=0.9, idle_needed=3)).findings

    def test_on_one_of_several_fleets_is_enough(self) -> None:
        broad = recipe(point(1, runner="h200"))
        told = (Load(cluster="h200-cw", nodes=2, idle=0), Load(cluster="h200-dgxc-slurm", nodes=10, idle=9))
        assert clean(capacity.check(facts(broad, declared_labels={"h200": ("h200-cw_0", "h200-dgxc-slurm_1")}, loads=told)))

    def test_of_another_cluster_says_nothing(self) -> None:
        checked = capacity.check(facts(loads=(Load(cluster="b300-nv", nodes=1, idle=0),)))
        assert checked.findings == () and checked.unknown is not None

    def test_of_no_node_at_all_is_nobodys_figure(self) -> None:
        checked = capacity.check(facts(loads=(Load(cluster="h200-dgxc", nodes=0, idle=0),)))
        assert checked.findings == () and checked.unknown is not None

    def test_that_nobody_told_is_unknown(self) -> None:
        assert capacity.check(facts(unknown={"capacity": "unreachable"})).unknown is not None
