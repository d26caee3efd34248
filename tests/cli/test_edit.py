"""edit and matrix, on a repository of one recipe and on one with linked files."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from bot.cli import writing
from tests.cli import worlds
from tests.cli.shell import ROOT, bumpbot

OLD, NEW = f"{worlds.NAME}:v1.0.0", f"{worlds.NAME}:v1.1.0"


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def guest(tmp_path: Path) -> Path:
    """A few recipes of InferenceX with their linked files."""
    shutil.copytree(ROOT / "tests" / "recipe" / "data" / "inferencex", tmp_path / "guest")
    return tmp_path / "guest"


class TestTheDiff:
    def test_is_one_that_git_applies_to_the_same_bytes_that_write_writes(self, repo: Path, tmp_path: Path) -> None:
        shutil.copytree(repo, tmp_path / "other")
        done = bumpbot("--repo", repo, "edit", "toy", "--image", NEW)
        assert (done.code, done.err) == (0, "")
        subprocess.run(["git", "apply"], cwd=repo, input=done.out.encode(), check=True)
        assert bumpbot("--repo", tmp_path / "other", "edit", "toy", "--image", NEW, "--write").code == 0
        assert files(repo) == files(tmp_path / "other")
        assert f"image: {NEW}  # moves\n" in (repo / "recipes" / "toy.yaml").read_text()

    def test_carries_any_script(self, repo: Path) -> None:
        file = repo / "recipes" / "toy.yaml"
        file.write_text(file.read_text().replace("since spring", "自春季起"))
        done = bumpbot("--repo", repo, "edit", "toy", "--image", NEW)
        subprocess.run(["git", "apply"], cwd=repo, input=done.out.encode(), check=True)
        assert "自春季起" in file.read_text() and NEW in file.read_text()

    @pytest.mark.parametrize("name", ["two words.yaml", "配方.yaml", 'quo"te.yaml'])
    def test_applies_with_carriage_returns_no_final_newline_and_any_name(self, repo: Path, name: str) -> None:
        file = (repo / "recipes" / "toy.yaml").rename(repo / "recipes" / name)
        before = file.read_bytes().rstrip(b"\n").replace(b"\n", b"\r\n")
        file.write_bytes(before)
        done = bumpbot("--repo", repo, "edit", "toy", "--image", NEW)
        subprocess.run(["git", "apply"], cwd=repo, input=done.out.encode(), check=True)
        assert file.read_bytes() == before.replace(OLD.encode(), NEW.encode())

    def test_is_empty_when_the_image_is_there(self, repo: Path) -> None:
        done = bumpbot("--repo", repo, "edit", "toy", "--image", OLD)
        assert (done.code, done.out) == (0, "")
        assert "stands there already" in done.line

    def test_in_markdown_is_a_block(self, repo: Path) -> None:
        out = bumpbot("--repo", repo, "edit", "toy", "--image", NEW, "--format", "markdown").out
        assert out.startswith("```diff\ndiff --git") and out.endswith("```\n")


class TestJson:
    def test_has_the_keys_of_the_contract(self, repo: Path) -> None:
        told = bumpbot("--repo", repo, "edit", "toy", "--image", NEW, "--format", "json").json
        assert {key: told[key] for key in ("recipe", "old", "new", "findings", "proposal")} == {
            "recipe": "toy", "old": OLD, "new": NEW, "findings": [], "proposal": None}
        assert told["sites"] == [{"file": "recipes/toy.yaml", "line": 3, "path": "image"}]
        assert told["matrix"] == {"changed_rows": 2, "other_rows_changed": 0, "only_image": True, "by": "bumpbot"}
        assert told["diff"].startswith("diff --git a/recipes/toy.yaml b/recipes/toy.yaml\n")

    def test_knows_the_old_image_after_it_was_written_over(self, repo: Path) -> None:
        assert bumpbot("--repo", repo, "edit", "toy", "--image", NEW, "--write", "--format", "json").json["old"] == OLD

    def test_says_nothing_of_a_matrix_that_nobody_generates(self, repo: Path) -> None:
        (repo / ".github" / "bumpbot.yml").write_text("version: 1\nrecipes: [{files: recipes/*.yaml}]\n")
        assert bumpbot("--repo", repo, "edit", "toy", "--image", NEW, "--format", "json").json["matrix"] is None


class TestPolicy:
    """It is told on standard error and stops nothing."""

    @pytest.mark.parametrize(("image", "said"), [
        ("other.example/acme/engine:v2", "is not on the layout's list"),
        ("other.example/acme/engine:v2", "another repository than registry.example/acme/engine"),
        (f"{worlds.NAME}:v0.9.0", "v0.9.0 is older than v1.0.0"),
        (f"{worlds.NAME}:v1.1.0-cu130", "v1.1.0-cu130 is incomparable with v1.0.0"),
        (f"{worlds.NAME}:v1.1.0rc1", "v1.1.0rc1: a release candidate, and the policy takes releases only"),
    ])
    def test_says(self, repo: Path, image: str, said: str) -> None:
        done = bumpbot("--repo", repo, "edit", "toy", "--image", image)
        assert done.code == 0 and done.out
        assert any(line.startswith("policy: ") and said in line for line in done.err.splitlines()), done.err

    def test_says_that_a_recipe_is_pinned_and_why(self, repo: Path) -> None:
        recipe = repo / "recipes" / "toy.yaml"
        recipe.write_text(f"{recipe.read_text()}policy: {{channel: pinned, reason: the paper is in review}}\n")
        told = bumpbot("--repo", repo, "edit", "toy", "--image", NEW).err
        assert "policy: toy is pinned: the paper is in review" in told

    def test_names_the_family_and_the_launcher(self, guest: Path) -> None:
        master = guest / "configs" / "nvidia-master.yaml"
        text = master.read_text()
        block = text[text.index("dsv4-fp4-b200-vllm:"):].split("\n\n")[0]
        master.write_text(f"{text}\n{block.replace('dsv4-fp4-b200-vllm:', 'dsv4-fp4-b200-vllm-mtp:')}\n")
        image = f"vllm/vllm-openai:v0.27.0@sha256:{'a' * 64}"
        told = bumpbot("--repo", guest, "--layout", "inferencex", "edit", "dsv4-fp4-b200-vllm", "--image", image).err
        assert "policy: dsv4-fp4-b200-vllm moves together with dsv4-fp4-b200-vllm-mtp" in told
        assert "takes tag@digest is" in told


class TestRefusals:
    def test_an_unknown_recipe_and_one_like_it(self, guest: Path) -> None:
        done = bumpbot("--repo", guest, "--layout", "inferencex", "edit", "glm5.2-fp4", "--image", "a/b:c")
        assert done.code == 1
        assert "no recipe is called glm5.2-fp4: did you mean" in done.line

    @pytest.mark.parametrize("image", ["", "A B", "a/b:", "a@sha256:1", "http://a/b"])
    def test_an_image_that_does_not_parse_is_a_bad_argument(self, repo: Path, image: str) -> None:
        before = files(repo)
        done = bumpbot("--repo", repo, "edit", "toy", "--image", image, "--write")
        assert done.code == 2 and done.line
        assert files(repo) == before

    def test_recipes_that_share_a_linked_file_are_named_together(self, guest: Path) -> None:
        master = guest / "configs" / "nvidia-master.yaml"
        text = master.read_text()
        key = "kimik3-fp4-gb200-dynamo-vllm-agentic-dspark-mooncake-dcp16-agg"
        block = text[text.index(f"{key}:"):].split("\n\n")[0]
        master.write_text(f"{text.rstrip()}\n\n{block.replace(key, 'second')}\n")
        before = files(guest)
        argv = ("--image", "vllm/vllm-openai:v0.27.0", "--write")
        done = bumpbot("--repo", guest, "--layout", "inferencex", "edit", key, *argv)
        assert done.code == 1 and "is shared with second: name second too" in done.line
        assert files(guest) == before
        both = bumpbot("--repo", guest, "--layout", "inferencex", "edit", key, "second", *argv, "--format", "json")
        assert both.code == 0, both.err
        assert [one["recipe"] for one in both.json["recipes"]] == [key, "second"]
        assert len({name for name, data in files(guest).items() if before[name] != data}) == 2

    def test_a_recipe_file_that_is_broken_is_told_with_its_line(self, repo: Path) -> None:
        (repo / "recipes" / "toy.yaml").write_text("name: toy\nimage: [\n")
        done = bumpbot("--repo", repo, "edit", "toy", "--image", NEW)
        assert done.code == 1
        assert "recipes/toy.yaml:" in done.line and "not YAML" in done.line

    def test_an_unknown_key_in_a_recipe_of_our_own(self, repo: Path) -> None:
        file = repo / "recipes" / "toy.yaml"
        file.write_text(f"{file.read_text()}colour: red\n")
        done = bumpbot("--repo", repo, "matrix", "toy")
        assert done.code == 1
        assert "recipes/toy.yaml:9: colour: unknown key" in done.line


class TestWriting:
    def test_all_files_or_none(self, guest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        before = files(guest)
        real = Path.write_bytes

        def full(path: Path, data: bytes) -> int:
            if "nvidia-master" in path.name:
                raise OSError(28, "No space left on device")
            return real(path, data)

        monkeypatch.setattr(Path, "write_bytes", full)
        key = "kimik3-fp4-gb200-dynamo-vllm-agentic-dspark-mooncake-dcp16-agg"
        argv = ("edit", key, "--image", "vllm/vllm-openai:v0.27.0", "--write")
        done = bumpbot("--repo", guest, "--layout", "inferencex", *argv)
        assert done.code == 1
        assert "nvidia-master.yaml cannot be written: No space left on device" in done.err
        assert files(guest) == before

    def test_keeps_the_modes_of_files(self, tmp_path: Path) -> None:
        (tmp_path / "run.sh").write_bytes(b"a")
        (tmp_path / "run.sh").chmod(0o755)
        writing.write_all(tmp_path, {"run.sh": b"b", "new": b"c"})
        assert (tmp_path / "run.sh").stat().st_mode & 0o777 == 0o755
        assert files(tmp_path) == {"run.sh": b"b", "new": b"c"}


class TestMatrix:
    KEYS = ["id", "recipe", "kind", "image", "hardware", "gpus", "topology", "workload", "concurrency", "runner", "fingerprint",
            "stage", "eval"]

    def test_is_the_sweep(self, repo: Path) -> None:
        points = bumpbot("--repo", repo, "matrix", "toy", "--format", "json").json
        assert [(point["kind"], point["concurrency"], point["stage"]) for point in points] == [
            ("throughput", 1, None), ("throughput", 16, None), ("eval", 16, None)]
        assert all(set(self.KEYS) <= set(point) for point in points)
        assert points[0]["eval"] is None and points[2]["eval"] == {"task": "gsm8k", "threshold": 0.9, "limit": None, "shuffled": False,
                                                                     "framework": ""}

    def test_of_a_smoke_comes_in_stages(self, repo: Path) -> None:
        points = bumpbot("--repo", repo, "matrix", "toy", "--smoke", "--format", "json").json
        assert [(point["stage"], point["kind"], point["concurrency"]) for point in points] == [
            (1, "eval", 16), (2, "throughput", 1), (3, "throughput", 16)]
        assert (points[0]["eval"]["limit"], points[0]["eval"]["shuffled"]) == (100, True)

    def test_for_a_person_is_a_table_and_in_markdown_one_too(self, repo: Path) -> None:
        shown = bumpbot("--repo", repo, "matrix", "toy").out.splitlines()
        assert shown[0] == "toy: 3 points, 4 x h200"
        assert shown[1].split() == ["stage", "kind", "conc", "topology", "workload", "eval"]
        drawn = bumpbot("--repo", repo, "matrix", "toy", "--format", "markdown").out.splitlines()
        assert drawn[1] == "| --- | --- | ---: | --- | --- | --- |"

    def test_is_refused_where_nothing_generates_one(self, repo: Path) -> None:
        (repo / ".github" / "bumpbot.yml").write_text("version: 1\nrecipes: [{files: recipes/*.yaml}]\n")
        done = bumpbot("--repo", repo, "matrix", "toy")
        assert done.code == 1 and "names no generator" in done.line
