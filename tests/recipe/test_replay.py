"""Real bumps by people, done again: from the tree before, the same bytes as after. Skipped where they are not recorded."""

from __future__ import annotations

import io
import json
import tarfile
from collections import defaultdict
from typing import Any

import pytest
import yaml

from bot.layout import Layout
from bot.recipe import changelog, edit
from tests.recipe.conftest import SHARED, MemoryTree

REPLAY = SHARED / "replay"
pytestmark = pytest.mark.skipif(not REPLAY.is_dir(), reason="the recorded bumps are not beside this repository")

# Commits in which people did more, or less, than move the image.
PEOPLE = {"36c0f6650514": "two files that no recipe links moved too", "37ead2ac060d": "one linked file was forgotten",
          "2719ad8cd7af": "aliases were replaced by the image, and one provenance was forgotten"}


def recorded(name: str) -> tuple[dict[str, list[dict[str, Any]]], dict[str, dict[str, MemoryTree]]]:
    bumps: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in (REPLAY / f"{name}.jsonl").read_text().splitlines():
        row = json.loads(line)
        bumps[row["commit"][:12]].append(row)
    files: dict[str, dict[str, dict[str, bytes]]] = defaultdict(lambda: {"before": {}, "after": {}})
    with tarfile.open(fileobj=io.BytesIO((REPLAY / f"{name}.tar.xz").read_bytes())) as archive:
        for member in archive:
            if member.isfile():
                commit, when, path = member.name.removeprefix("./").split("/", 2)
                stream = archive.extractfile(member)
                assert stream is not None
                files[commit][when][path.replace("__", "/")] = stream.read()
    return bumps, {commit: {when: MemoryTree(part) for when, part in both.items()} for commit, both in files.items()}


def moved(tree: MemoryTree, layout: Layout, rows: list[dict[str, Any]]) -> MemoryTree:
    for image in dict.fromkeys(row["new_image"] for row in rows):
        tree = tree.after(edit.move(tree, layout, [row["key"] for row in rows if row["new_image"] == image], image).files)
    return tree


def images(data: bytes) -> dict[tuple[str, ...], str]:
    """Every image site of a master or a linked file."""
    found: dict[tuple[str, ...], str] = {}

    def walk(part: Any, path: tuple[str, ...]) -> None:
        if isinstance(part, dict):
            for key, child in part.items():
                walk(child, (*path, str(key)))
        elif path[-2:] == ("model", "container") or path[-2:] == ("container", "image") or (len(path) == 2 and path[1] == "image"):
            found[path] = part

    walk(yaml.load(data, Loader=yaml.CSafeLoader), ())
    return found


class TestBumpsOfOneFile:
    def test_give_the_same_bytes(self, inferencex: Layout) -> None:
        bumps, trees = recorded("open")
        assert len(bumps) == 79
        for commit, rows in bumps.items():
            made = moved(trees[commit]["before"], inferencex, rows)
            assert made.files[rows[0]["file"]] == trees[commit]["after"].files[rows[0]["file"]], commit

    def test_their_changelogs_pass_and_fail_as_known(self, inferencex: Layout) -> None:
        assert inferencex.changelog is not None
        bumps, trees = recorded("open")
        passed = [commit for commit in bumps if not changelog.check(*(
            trees[commit][when].files["perf-changelog.yaml"] for when in ("before", "after")), inferencex.changelog)]
        assert (len(passed), len(bumps) - len(passed)) == (62, 17)


class TestBumpsOfLinkedFiles:
    def test_move_every_image_site_that_people_moved(self, inferencex: Layout) -> None:
        bumps, trees = recorded("linked-open")
        differing = set()
        for commit, rows in bumps.items():
            made, after = moved(trees[commit]["before"], inferencex, rows), trees[commit]["after"]
            for path in set(made.files) & set(after.files) - {"perf-changelog.yaml"}:
                if made.files[path] == after.files[path]:
                    continue
                ours, theirs = images(made.files[path]), images(after.files[path])
                if any(theirs[site] != ours[site] for site in set(ours) & set(theirs)):
                    differing.add(commit)
        assert differing == set(PEOPLE)
