"""image, tags compare and plan, against a registry on loopback."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli import worlds
from tests.cli.shell import bumpbot


@pytest.fixture
def image() -> Iterator[str]:
    with worlds.registry() as name:
        yield name


class TestImage:
    def test_json_has_the_keys_of_the_contract(self, image: str) -> None:
        told = bumpbot("image", f"{image}:v1.1.0", "--format", "json").json
        assert {key: told[key] for key in ("reference", "kind", "created", "labels", "provenance", "identity", "first_seen")} == {
            "reference": f"{image}:v1.1.0", "kind": "index", "created": "2026-01-03T00:00:00Z", "labels": {}, "provenance": "none",
            "identity": "anonymous", "first_seen": None}
        assert [sorted(one) for one in told["platforms"]] == [["architecture", "digest", "os", "size"]] * 2
        assert told["facts"] == {"cuda": "13.0.1", "rocm": None, "arch_list": None, "commit": None}

    @pytest.mark.parametrize("format_", ["table", "markdown"])
    def test_for_a_person_shows_a_dash_for_what_is_not_known(self, image: str, format_: str) -> None:
        done = bumpbot("image", f"{image}:v1.1.0", "--format", format_)
        assert (done.code, done.err) == (0, "")
        rows = dict(line.strip("| ").replace(" | ", " ").split(None, 1) for line in done.out.splitlines() if "---" not in line)
        assert (rows["cuda"], rows["rocm"], rows["kind"]) == ("13.0.1", "-", "index")

    def test_whose_tag_names_another_day_than_it_was_made_on_says_so(self) -> None:
        made = worlds.TAGS["v1.0.0"]
        with worlds.registry({"nightly-dev-20251103-1a2b3c4d": made, "nightly-dev-20260101-1a2b3c4d": made}) as name:
            odd, even = (bumpbot("image", f"{name}:nightly-dev-{day}-1a2b3c4d") for day in (20251103, 20260101))
            assert odd.code == 0 and odd.line == "the tag says 2025-11-03, the image was created on 2026-01-01"
            assert (even.code, even.err) == (0, "")

    @pytest.mark.parametrize("text", ["", "A B", "http://x/y", "a/b:", "a/b@sha256:1", "UPPER", "-x/"])
    def test_what_does_not_parse_is_a_bad_argument(self, text: str) -> None:
        done = bumpbot("image", "--", text)
        assert done.code == 2 and done.line

    def test_what_the_registry_does_not_have(self, image: str) -> None:
        done = bumpbot("image", f"{image}:v9")
        assert done.code == 1 and "not there (404)" in done.line

    def test_a_registry_that_does_not_answer_is_the_worlds_fault(self) -> None:
        done = bumpbot("image", "127.0.0.1:1/a:b")
        assert done.code == 3 and "127.0.0.1:1" in done.line

    def test_offline_is_refused(self, image: str) -> None:
        assert bumpbot("--offline", "image", f"{image}:v1.1.0").code == 1

    @pytest.mark.parametrize("login", [b"[", b"[]", b"\xff"])
    def test_a_broken_docker_login_is_told_with_its_file(self, image: str, tmp_path: Path, login: bytes) -> None:
        (tmp_path / "config.json").write_bytes(login)
        done = bumpbot("image", f"{image}:v1.1.0", env={"DOCKER_CONFIG": str(tmp_path)})
        assert done.code == 1 and str(tmp_path / "config.json") in done.line


def history(folder: Path) -> tuple[str, str, str]:
    """A commit, its child, and another child of it on a side; the first one's short id is a branch's name as well."""
    def git(*argv: str) -> str:
        who = ["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "init.defaultBranch=main"]
        return subprocess.run(["git", *who, *argv], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()

    def commit(text: str) -> str:
        git("commit", "-q", "--allow-empty", "-m", text)
        return git("rev-parse", "HEAD")

    git("init", "-q")
    old, new = commit("one"), commit("two")
    git("checkout", "-q", "-b", old[:7], old)
    side = commit("three")
    git("branch", new[:7], side)
    return old, new, side


class TestTagsCompare:
    @pytest.mark.parametrize(("a", "b", "order"), [
        ("1.3.0rc14", "1.3.0rc9", "newer"), ("v0.25.0", "v0.25.1", "older"), ("v1.0.0", "v1.0.0", "same"),
        ("latest", "v1.0.0", "incomparable"),
    ])
    def test_prints_one_word_and_says_why_beside_it(self, a: str, b: str, order: str) -> None:
        done = bumpbot("tags", "compare", a, b)
        assert (done.code, done.out) == (0, f"{order}\n")
        assert done.line
        assert bumpbot("tags", "compare", a, b, "--format", "json").json["order"] == order

    def test_orders_commits_by_the_history_at_repo(self, tmp_path: Path) -> None:
        old, new, side = history(tmp_path)
        for a, b, order in ((old, new, "older"), (new[:7], old[:9], "newer"), (side, new, "incomparable"), (old, old[:8], "same"),
                            (old, "a" * 40, "incomparable")):
            done = bumpbot("tags", "compare", f"nightly-{a}", f"nightly-{b}", "--repo", tmp_path)
            assert (done.code, done.out) == (0, f"{order}\n"), (a, b, done.err)
        assert bumpbot("tags", "compare", f"nightly-{old}", f"nightly-{new}").out == "incomparable\n"

    def test_a_history_that_is_none_is_told(self, tmp_path: Path) -> None:
        done = bumpbot("tags", "compare", "v1.0.0", "v1.0.1", "--repo", tmp_path)
        assert done.code == 1 and "is no git repository" in done.line

    @pytest.mark.parametrize("tag", ["", "a/b", "a b", "a:b", "x" * 129])
    def test_what_is_no_tag_is_a_bad_argument(self, tag: str) -> None:
        assert bumpbot("tags", "compare", tag, "v1.0.0").code == 2
        assert bumpbot("tags", "compare", "v1.0.0", tag).code == 2

    def test_what_is_no_tag_is_told_in_a_line_that_people_read(self) -> None:
        assert len(bumpbot("tags", "compare", "1" * 100_000, "v1.0.0").line) < 400


class TestPlan:
    @pytest.fixture
    def guest(self, image: str, tmp_path: Path) -> Path:
        return worlds.write(tmp_path / "guest", image)

    def test_tells_the_edit_and_the_proposal_and_touches_nothing(self, guest: Path, image: str) -> None:
        before = (guest / "recipes" / "toy.yaml").read_bytes()
        done = bumpbot("--repo", guest, "plan", "toy", "--image", f"{image}:v1.1.0", "--format", "json")
        assert (done.code, done.err) == (0, "")
        told = done.json
        assert (told["recipe"], told["old"]) == ("toy", f"{image}:v1.0.0")
        assert told["new"].partition("@")[0] == f"{image}:v1.1.0"
        assert told["matrix"] == {"changed_rows": 2, "other_rows_changed": 0, "only_image": True, "by": "bumpbot"}
        assert told["findings"] == [] and told["sites"] == [{"file": "recipes/toy.yaml", "line": 3, "path": "image"}]
        assert "### Baseline" in told["proposal"] and "### 基线" in told["proposal"]
        assert told["missing_baseline"] == "no-source"
        assert (guest / "recipes" / "toy.yaml").read_bytes() == before

    def test_tells_what_the_old_image_beside_the_sweep_costs_where_the_policy_asks_for_it(self, guest: Path, image: str) -> None:
        asked = ("--repo", guest, "plan", "toy", "--image", f"{image}:v1.1.0")
        assert bumpbot(*asked, "--format", "json").json["control_arm"] is None
        recipe = guest / "recipes" / "toy.yaml"
        recipe.write_text(recipe.read_text() + "policy: {control-arm: same-day}\n")
        told = bumpbot(*asked, "--format", "json").json
        assert told["control_arm"] == {"points": 2, "gpu_hours": pytest.approx(2 * 4 * 100 / 60)}
        assert "Control arm:" in bumpbot(*asked).out and "about 13.3 GPU-h" in told["proposal"] and "约 13.3 GPU 小时" in told["proposal"]

    def test_without_an_image_takes_the_one_that_scan_names_and_says_why(self, guest: Path, image: str) -> None:
        found, = bumpbot("--repo", guest, "scan", "--format", "json").json
        told = bumpbot("--repo", guest, "plan", "toy", "--format", "json").json
        assert told["new"] == found["candidate"] and told["new"].startswith(f"{image}:v1.1.0")
        assert told["reasons"] == found["reasons"] and "version: 1.1.0, 1.0.0" in told["reasons"][0]

    def test_without_an_image_that_could_follow_is_refused_with_the_reasons(self, guest: Path, image: str) -> None:
        (guest / ".github" / "bumpbot.yml").write_text(f"""version: 1
preset: own
allow: [{image}]
policies: {{toy: {{channel: nightly}}}}
""")
        done = bumpbot("--repo", guest, "--layout", guest / ".github" / "bumpbot.yml", "plan", "toy")
        assert (done.code, done.out) == (1, "") and "no candidate for toy" in done.line and "--image" in done.line

    def test_its_diff_is_one_that_git_applies(self, guest: Path, image: str) -> None:
        told = bumpbot("--repo", guest, "plan", "toy", "--image", f"{image}:v1.1.0", "--format", "json").json
        subprocess.run(["git", "apply"], cwd=guest, input=told["diff"].encode(), check=True)
        assert told["new"] in (guest / "recipes" / "toy.yaml").read_text()

    def test_for_a_person_draws_the_proposal_before_the_diff(self, guest: Path, image: str) -> None:
        out = bumpbot("--repo", guest, "plan", "toy", "--image", f"{image}:v1.1.0").out
        assert 0 <= out.index("Baseline") < out.index("基线") < out.index("diff --git")
        assert "**" not in out

    def test_in_markdown_is_the_proposal_as_it_would_be_posted(self, guest: Path, image: str) -> None:
        out = bumpbot("--repo", guest, "plan", "toy", "--image", f"{image}:v1.1.0", "--format", "markdown").out
        assert out.startswith("**State:** proposed") and out.endswith("```\n")

    @pytest.mark.parametrize(("tag", "said"), [
        ("v0.9.0", "an older image is never proposed"), ("v1.0.0", "already runs"), ("v9", "404"),
    ])
    def test_what_is_no_candidate_is_refused_with_its_reason(self, guest: Path, image: str, tag: str, said: str) -> None:
        done = bumpbot("--repo", guest, "plan", "toy", "--image", f"{image}:{tag}")
        assert (done.code, done.out) == (1, "") and said in done.line

    def test_an_image_that_the_layout_does_not_allow(self, guest: Path, image: str) -> None:
        (guest / ".github" / "bumpbot.yml").write_text("version: 1\npreset: own\nallow: [registry.example/x/y]\n")
        assert bumpbot("--repo", guest, "plan", "toy", "--image", f"{image}:v1.1.0").code == 1

    @pytest.mark.parametrize(("argv", "code"), [
        (("plan", "toy", "--image", "A B"), 2), (("plan", "ghost", "--image", "127.0.0.1:1/a:b"), 1),
        (("plan", "toy", "--image", "127.0.0.1:1/a:b"), 3), (("--offline", "plan", "toy", "--image", "a/b:c"), 1),
    ])
    def test_what_is_wrong_has_its_code(self, guest: Path, argv: tuple[str, ...], code: int) -> None:
        done = bumpbot("--repo", guest, *argv)
        assert done.code == code and done.line
