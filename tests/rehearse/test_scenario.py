"""Scenario folders: what loads, and what is said about one that does not."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs
import pytest

from bot import strict
from bot.errors import BadInput, Missing, Refusal
from bot.rehearse import scenario, sharing
from tests.rehearse.small_scenario import REGISTRY, SCENARIO, write

SHIPPED = Path(scenario.__file__).parent / "scenarios/kimi-k3-gb200"


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(SCENARIO.split("\n"), 1) if text in line)


class TestAFolderThatHolds:
    def test_it_loads_with_everything_beside_it(self, tmp_path: Path) -> None:
        found = scenario.load(write(tmp_path))
        assert found.variant == "own"
        assert found.story.runs[0].attempts[0].jobs[0].gpus == 8
        assert found.registry["registry.example"]["acme/engine"]["2.0"].labels == {"built-by": "acme"}
        assert found.artifact(901, 1, "logs") == tmp_path / "artifacts/901/1/logs"

    def test_a_check_that_is_not_named_is_on(self, tmp_path: Path) -> None:
        text = SCENARIO.replace("caps: {gpu_hours: 40}", "caps: {gpu_hours: 40}, checks: {imports: false, arch: true}")
        assert scenario.load(write(tmp_path, text)).story.policy.checks.off == {"imports"}

    def test_what_the_policy_does_not_say_is_left_to_the_layout(self, tmp_path: Path) -> None:
        policy = scenario.load(write(tmp_path)).story.policy
        assert (policy.smoke.stages, policy.smoke.arguments) == (None, None)
        assert (policy.caps.approve_above, policy.caps.gpu_hours_per_day) == (None, None)

    def test_it_fits_its_own_json_schema(self) -> None:
        valid = jsonschema_rs.validator_for(scenario.schema())
        for text in (SCENARIO, *(file.read_text() for file in SHIPPED.parent.glob("*/scenario.yaml"))):
            value, _ = strict.parse(text, file="scenario.yaml")
            valid.validate(json.loads(json.dumps(value, default=lambda moment: moment.isoformat())))

    @pytest.mark.parametrize(("part", "files"), [("upstream", "*/upstream/*.yaml"), ("registry", "*/registry.yaml")])
    def test_the_schema_describes_the_files_beside_it(self, part: str, files: str) -> None:
        told = scenario.schema()
        valid = jsonschema_rs.validator_for({"$defs": told["$defs"], "$ref": f"#/$defs/{part}"})
        found = sorted(SHIPPED.parent.glob(files))
        for file in found:
            value, _ = strict.parse(file.read_text(), file=file.name)
            valid.validate(json.loads(json.dumps(value, default=lambda moment: moment.isoformat())))
        assert len(found) > 4 and not valid.is_valid({"nowhere": 1})

    def test_every_part_of_the_schema_says_what_it_is_for(self) -> None:
        plain = {"Clock", "Attempt", "Person", "Label", "Unlabel", "Comment", "Close", "Merge"}  # their names say it
        bare = {name for name, part in scenario.schema()["$defs"].items() if part.get("type") == "object" and not part.get("description")}
        assert bare <= plain, bare

    def test_the_schema_refuses_an_unknown_key(self) -> None:
        value, _ = strict.parse(SCENARIO + "colour: red\n", file="scenario.yaml")
        plain = json.loads(json.dumps(value, default=lambda moment: moment.isoformat()))
        assert not jsonschema_rs.validator_for(scenario.schema()).is_valid(plain)


class TestTheVariants:
    def test_without_a_word_the_bots_own_policy_is_meant(self, tmp_path: Path) -> None:
        assert scenario.load(write(tmp_path)).variant == "own"

    def test_a_scenario_that_only_tells_what_happened_says_how_to_ask_for_it(self, tmp_path: Path) -> None:
        with pytest.raises(Refusal) as told:
            scenario.load(write(tmp_path, SCENARIO.replace("  own:\n", "  as-it-happened:\n")))
        assert str(told.value) == "scenario small has only the variant as-it-happened: add --as-it-happened"

    def test_a_variant_that_it_does_not_have_is_named_with_those_it_has(self, tmp_path: Path) -> None:
        with pytest.raises(Refusal, match="no variant as-it-happened: it has: own"):
            scenario.load(write(tmp_path), "as-it-happened")


# what is changed, what it becomes -> the line it is told for (text on it), the key, words of the reason
BROKEN = {
    "an unknown key": ("layout: own", "layout: own\ncolour: red", None, "colour", "unknown key"),
    "an unknown key inside": ("capacity: 1}", "capacity: 1, size: 2}", "capacity: 1", "pools.0.size", "unknown key"),
    "a missing key": ("layout: own\n", "", None, "", "`layout` is missing"),
    "a moment without a zone": (
        "first: 2026-01-05T10:05:00Z",
        'first: "2026-01-05T10:05:00"',
        "schedule:",
        "schedule.first",
        "",
    ),
    "a reference that does not parse": (
        'acme/engine:2.0"}\n      - {do: push',
        'acme/Engine:2.0"}\n      - {do: push',
        "do: dispatch",
        "variants.own.events.0.image",
        "upper-case|lower-case",
    ),
    "a tag that the registry lacks": (
        "to: 2.0-again",
        "to: v3.0",
        "do: repush",
        "variants.own.events.2.to",
        "no tag `v3.0`",
    ),
    "somebody nobody declared": (
        "10:20:00Z, by: ada",
        "10:20:00Z, by: eve",
        "do: push",
        "variants.own.events.1.by",
        "`eve` is nobody",
    ),
    "an unknown kind of event": ("do: push", "do: shove", "do: push", "variants.own.events.1", ""),
    "a workflow nobody declared": (
        "workflow: smoke.yml",
        "workflow: soak.yml",
        "workflow: smoke.yml",
        "variants.own.runs.0.workflow",
        "none of the workflows",
    ),
    "a trigger the workflow lacks": (
        "event: workflow_dispatch",
        "event: push",
        "event: workflow_dispatch",
        "variants.own.runs.0.event",
        "no trigger `push`",
    ),
    "a pool nobody declared": (
        "pool: gpu",
        "pool: tpu",
        "pool: gpu",
        "variants.own.runs.0.attempts.0.jobs.0.pool",
        "none of the pools",
    ),
    "an artifact without a folder": (
        "artifacts: [logs]",
        "artifacts: [lost]",
        "artifacts: [logs]",
        "variants.own.runs.0.attempts.0.jobs.0.artifacts.0",
        "no folder artifacts/901/1/lost",
    ),
    "an end before the start": (
        "until: 2026-01-05T12",
        "until: 2026-01-05T09",
        "until:",
        "variants.own.until",
        "not after",
    ),
    "a path that climbs": ("append: {log.txt:", "append: {../log.txt:", "do: push", "variants.own.events.1.append", ""),
    "a push to two places": (
        "message: grow",
        "message: grow, branch: topic, pull: newest",
        "do: push",
        "variants.own.events.1.pull",
        "both say where to push",
    ),
    "a push to a pull request that is no number": (
        "message: grow",
        "message: grow, pull: oldest",
        "do: push",
        "variants.own.events.1.pull",
        "",
    ),
    "a stage of the smoke that nobody knows": (
        "caps: {gpu_hours: 40}",
        "caps: {gpu_hours: 40}, smoke: {stages: [evals, middle]}",
        "policy:",
        "variants.own.policy.smoke.stages.1",
        "",
    ),
    "more idle nodes than there are": (
        "pools:",
        "fleet: {loads: [{cluster: gpu, nodes: 2, idle: 3}]}\npools:",
        None,
        "fleet.loads.0.idle",
        "3 of 2 nodes",
    ),
    "a staged image without its fleet": (
        "pools:",
        "fleet: {staged: [{images: [a.sqsh]}]}\npools:",
        None,
        "fleet.staged.0",
        "`runner` is missing",
    ),
    "a check nobody knows": (
        "caps: {gpu_hours: 40}",
        "caps: {gpu_hours: 40}, checks: {vibes: true}",
        "policy:",
        "variants.own.policy.checks.vibes",
        "unknown key",
    ),
}


class TestAFolderThatDoesNotHold:
    @pytest.mark.parametrize("case", BROKEN)
    def test_the_fault_is_one_line_with_file_line_and_key(self, case: str, tmp_path: Path) -> None:
        old, new, mark, key, words = BROKEN[case]
        assert SCENARIO.count(old) == 1
        with pytest.raises(BadInput) as told:
            scenario.load(write(tmp_path, SCENARIO.replace(old, new)))
        assert "\n" not in str(told.value)
        assert told.value.file == str(tmp_path / "scenario.yaml")
        assert key in told.value.key
        assert any(word in str(told.value) for word in words.split("|"))
        if mark:
            assert told.value.line == line_of(mark)

    @pytest.mark.parametrize("name", ["scenario.yaml", "registry.yaml", "baseline.json"])
    def test_a_missing_file_is_named(self, name: str, tmp_path: Path) -> None:
        (write(tmp_path) / name).unlink()
        with pytest.raises(BadInput, match=f"{name}: this file is missing"):
            scenario.load(tmp_path)

    def test_a_repository_without_files_is_named(self, tmp_path: Path) -> None:
        for file in sorted((write(tmp_path) / "repo").rglob("*"), reverse=True):
            file.unlink() if file.is_file() else file.rmdir()
        with pytest.raises(BadInput, match="repo: this folder is missing or empty"):
            scenario.load(tmp_path)

    def test_an_artifact_that_no_job_uploads_is_named(self, tmp_path: Path) -> None:
        (write(tmp_path) / "artifacts/901/1/logz").mkdir()
        with pytest.raises(BadInput, match="logz: no job uploads this artifact"):
            scenario.load(tmp_path)

    def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(Missing, match="is no folder"):
            scenario.load(tmp_path / "nowhere")

    def test_a_registry_that_names_a_digest_must_be_allowed_to(self, tmp_path: Path) -> None:
        declared = REGISTRY.replace("kind: manifest}", f"kind: manifest, digest: sha256:{'a' * 64}}}")
        with pytest.raises(
            BadInput, match=r"registry.yaml: registry.example.acme/engine.2.0-again.digest: a declared digest"
        ):
            scenario.load(write(tmp_path, registry=declared))
        allowed = SCENARIO.replace("layout: own", "layout: own\nregistry: {declared_digests: true}")
        assert scenario.load(write(tmp_path, allowed, registry=declared))

    def test_a_registry_key_that_makes_no_reference(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="image reference"):
            scenario.load(write(tmp_path, registry=REGISTRY.replace("acme/engine", "Acme/engine")))

    def test_an_image_that_does_not_hold_is_told_with_its_tag(self, tmp_path: Path) -> None:
        with pytest.raises(
            BadInput, match=r"registry.yaml:4: registry.example.acme/engine.2.0: .*unknown field `sise`"
        ):
            scenario.load(write(tmp_path, registry=REGISTRY.replace("labels:", "sise: 4, labels:")))

    def test_a_scenario_without_a_variant(self, tmp_path: Path) -> None:
        text = SCENARIO[: SCENARIO.index("variants:")] + "variants: {}\n"
        with pytest.raises(BadInput, match="variants: no variant"):
            scenario.load(write(tmp_path, text))

    def test_a_baseline_with_an_unknown_key(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=r"baseline.json: rows: unknown key"):
            scenario.load(write(tmp_path, baseline='{"rows": []}'))

    def test_an_upstream_file_with_a_short_id(self, tmp_path: Path) -> None:
        (write(tmp_path) / "upstream").mkdir()
        (tmp_path / "upstream/engine.yaml").write_text(
            "repository: acme/engine\ncomparisons:\n  - {base: 925ea7e, head: 75c2eef, "
            "merge_base: null, ahead: 0, behind: 0}\n"
        )
        with pytest.raises(BadInput, match=r"engine.yaml:3: comparisons.0.base"):
            scenario.load(tmp_path)


class TestACopy:
    def test_a_shipped_scenario_is_copied_whole_and_loads(self, tmp_path: Path) -> None:
        sharing.copy(SHIPPED, tmp_path / "mine")
        assert scenario.load(tmp_path / "mine", "as-it-happened").declared.name == "kimi-k3-gb200"

    def test_a_folder_that_holds_something_is_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / "mine.txt").write_text("precious")
        with pytest.raises(Refusal, match="is not empty"):
            sharing.copy(SHIPPED, tmp_path)
        assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]

    def test_an_empty_folder_is_taken(self, tmp_path: Path) -> None:
        sharing.copy(write(tmp_path / "source"), tmp_path / "target")
        assert (tmp_path / "target/repo/log.txt").read_text() == "first line\n"

    def test_what_is_no_scenario_is_not_copied(self, tmp_path: Path) -> None:
        with pytest.raises(Missing, match=r"holds no scenario.yaml"):
            sharing.copy(tmp_path, tmp_path / "target")
