"""scan: every recipe of a repository, read into fields; what one of them lacks hides no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.cli.options import hoisted
from tests.cli import worlds
from tests.cli.shell import bumpbot, on_terminal

SNAPSHOT = Path(__file__).parents[3] / "shared/inferencex/snapshot"
KEYS = ["recipe", "file", "image", "registry", "repository", "tag", "digest", "scheme", "fields", "candidate", "disposition",
        "reasons", "unknown", "lost", "hints"]


class TestAGuest:
    @pytest.mark.skipif(not SNAPSHOT.is_dir(), reason="the recorded repository is not beside this one")
    def test_is_read_whole(self) -> None:
        done = bumpbot("scan", "--repo", SNAPSHOT, "--layout", "inferencex", "--offline", "--format", "json")
        told = done.json
        assert (done.code, len(told), len({one["image"] for one in told})) == (0, 208, 94)
        assert all(list(one) == KEYS and one["scheme"] and one["registry"] for one in told)
        assert sum(one["scheme"] == "custom" for one in told) <= 20
        assert all(one["fields"] for one in told if one["scheme"] != "custom")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    worlds.write(tmp_path / "repo")
    return tmp_path / "repo"


def manifests(repo: Path, *images: str, allow: str = "docker.io/x/y, ghcr.io/x/y") -> Path:
    """A plain repository with one manifest an image, and its layout beside it."""
    for index, image in enumerate(images):
        (repo / f"deploy-{index}.yaml").write_text(f"name: r{index}\nimage: {image}\n")
    layout = repo / "layout.yml"
    layout.write_text(f"version: 1\nrecipes: [{{files: 'deploy-*.yaml', key: .name, image: [.image]}}]\nallow: [{allow}]\n")
    return layout


class TestOffline:
    def test_a_tag_stands_in_its_fields_and_what_was_not_asked_is_unknown(self, repo: Path) -> None:
        layout = manifests(repo, "x/y:v1.2.0rc14", "ghcr.io#x/y:v0.5.16-cu130@sha256:" + "a" * 64)
        first, second = bumpbot("scan", "--repo", repo, "--layout", layout, "--offline", "--format", "json").json
        assert (first["scheme"], first["fields"]) == ("rc", {"version": "1.2.0", "rc": 14})
        assert (second["registry"], second["repository"], second["digest"]) == ("ghcr.io", "x/y", "sha256:" + "a" * 64)
        assert second["fields"] == {"version": "0.5.16", "cuda": "13.0"} and second["image"].startswith("ghcr.io#")
        assert first["candidate"] is None and first["unknown"] == ["which tags there are: no registry was asked (--offline)"]

    @pytest.mark.parametrize(("image", "said"), [
        ("'x/y: v1'", "is no reference"), ("x/y@sha256:" + "a" * 64, "no tag"), ("x/y:kimi-k3", None), ("[a, b]", "does not hold"),
    ])
    def test_an_image_that_cannot_be_read_hides_no_other(self, repo: Path, image: str, said: str | None) -> None:
        layout = manifests(repo, image, "x/y:v1.0.0")
        done = bumpbot("scan", "--repo", repo, "--layout", layout, "--offline", "--format", "json")
        odd, good = done.json
        assert done.code == 0 and good["fields"] == {"version": "1.0.0"}
        assert (odd["scheme"] in (None, "custom")) and (said is None or any(said in one for one in odd["unknown"]))

    def test_for_a_person_is_a_row_a_recipe(self, repo: Path) -> None:
        done = bumpbot("--repo", repo, "--layout", manifests(repo, "x/y:v1.0.0", "x/y:odd"), "--offline", "scan")
        rows = [line.split() for line in done.out.splitlines()]
        assert [row[:3] for row in rows] == [["recipe", "image", "scheme"], ["r0", "x/y:v1.0.0", "release"], ["r1", "x/y:odd", "custom"]]
        assert "recipes: 2; distinct images: 2; candidates: 0; tags that no scheme reads: 1" in done.err


class TestGlobalOptions:
    @pytest.mark.parametrize(("typed", "means"), [
        ("scan --repo R --offline", "--repo R --offline scan"), ("scan --repo=R x", "--repo=R scan x"), ("--repo R scan", "--repo R scan"),
        ("scan -- --repo R", "scan -- --repo R"), ("scan --repo", "--repo"), ("scan --offline=1", "--offline=1 scan"),
        ("tags compare a b --layout L --format json", "--layout L tags compare a b --format json"),
    ])
    def test_mean_the_same_wherever_they_stand(self, typed: str, means: str) -> None:
        assert hoisted(typed.split()) == means.split()

    def test_that_lack_their_value_say_so(self) -> None:
        done = bumpbot("scan", "--repo")
        assert done.code == 2 and "--repo" in done.err


class TestOneRecipe:
    def test_is_told_with_each_tag_that_lost_and_why(self, tmp_path: Path) -> None:
        with worlds.registry() as name:
            layout = manifests(tmp_path, f"{name}:v1.0.0", f"{name}:v0.9.0", allow=name)
            argv = ("scan", "r0", "--repo", tmp_path, "--layout", layout)
            told, = bumpbot(*argv, "--format", "json").json
            assert told["lost"] == {"v0.9.0": "older: version: 0.9.0, 1.0.0"} and told["recipe"] == "r0"
            assert all(one["lost"] is None for one in bumpbot(*argv[:1], *argv[2:], "--format", "json").json)
            assert "\nr0:\ntag" in bumpbot(*argv).out and "v0.9.0  older: version: 0.9.0, 1.0.0" in bumpbot(*argv).out
            assert "| v0.9.0 | older: version: 0.9.0, 1.0.0 |" in bumpbot(*argv, "--format", "markdown").out

    def test_that_is_not_there(self, repo: Path) -> None:
        done = bumpbot("scan", "ghost", "--repo", repo, "--offline")
        assert done.code == 1 and "no recipe is called ghost" in done.line

    def test_on_a_terminal_stands_above_what_is_told_of_it(self, repo: Path) -> None:
        layout = manifests(repo, "x/y:v1.0.0", "x/y:odd")
        shown = on_terminal("scan", "--repo", str(repo), "--layout", str(layout), "--offline", columns=40)
        plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).rpartition("reading the recipes")[2].split("\r\n")
        plain = [line.strip("\r").rstrip() for line in plain if line.strip()]
        assert plain[0] == "r0  x/y:v1.0.0" and plain[1].startswith("  unknown: which tags there are")
        assert plain[2].startswith("  ") and all(len(line) <= 40 for line in plain[:6]), "wrapped, and still indented"


class TestOnline:
    def test_finds_the_newer_tag_and_leaves_who_does_not_answer_without_one(self, tmp_path: Path) -> None:
        with worlds.registry() as name:
            layout = manifests(tmp_path, f"{name}:v1.0.0", "127.0.0.1:1/x/y:v1.0.0", allow=f"{name}, 127.0.0.1:1/x/y")
            done = bumpbot("scan", "--repo", tmp_path, "--layout", layout, "--format", "json")
            moved, silent = done.json
            assert (done.code, moved["candidate"]) == (0, f"{name}:v1.1.0")
            assert "v1.1.0 is newer than v1.0.0" in moved["reasons"][0]
            assert silent["candidate"] is None and "127.0.0.1:1" in silent["unknown"][0]

    def test_of_a_world_that_does_not_answer_is_its_fault(self, tmp_path: Path) -> None:
        layout = manifests(tmp_path, "127.0.0.1:1/x/y:v1.0.0", allow="127.0.0.1:1/x/y")
        done = bumpbot("scan", "--repo", tmp_path, "--layout", layout)
        assert done.code == 3 and "no registry answered" in done.err and "r0" in done.out

    def test_of_a_registry_that_has_none_of_it_is_refused(self, tmp_path: Path) -> None:
        with worlds.registry() as name:
            other = f"{name}-of-nobody"
            done = bumpbot("scan", "--repo", tmp_path, "--layout", manifests(tmp_path, f"{other}:v1.0.0", allow=other))
        assert done.code == 1 and "no registry told what was asked" in done.err and "not there (404)" in done.out
