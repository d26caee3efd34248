"""What a plan reads of an engine's own repository, wherever the layout says that it lies, and what it says where it cannot."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace as changed

from bot.adapters.process import LocalProcess
from bot.adapters.upstream.sources import Commits, UpstreamSources
from bot.cli.packaged import limits
from bot.images import reference
from bot.layout import address_of, called
from bot.model.bump import Plan
from bot.model.finding import Release
from bot.model.memory import Lesson
from bot.model.text import Text
from bot.plan import memory, plan
from tests.fakes.images import ImageTold
from tests.fakes.upstream_git import Repository
from tests.fakes.upstream_http import serve
from tests.preflight.told import _layout, _sources, cases

CASE = next(one for one in cases() if one.name == "sglang-choice-gone")
GITHUB = "https://github.com/sgl-project/sglang"


class Elsewhere:
    """A case whose engine is a repository of one's own; the bump and what is around it stay as they were."""

    def __init__(self, folder: Path) -> None:
        self.git = Repository(folder / "engine.git")
        self.old = self.git.commit("Begin", {"a.py": "1\n"})
        self.new = self.git.commit("Something (#7)", {"a.py": "2\n"})

    def plan(self, cache: Path, *, url: str = "", new: str | None = None) -> Plan:
        """The plan where the layout's source is at `url`; the new image's label says `new`."""
        told = CASE.told
        old = next(name for name in told.images if name != told.image)
        images = {old: ImageTold(commit=self.old), told.image: ImageTold(commit=new)}
        told = changed(told, images=images, entry={**told.entry, "image": old})
        layout = _layout(told)
        layout = changed(layout, sources=dict.fromkeys((reference.parse(told.image).name,), url) if url else {})
        read = UpstreamSources(LocalProcess(), cache, github=None)  # type: ignore[arg-type]
        ports = replace(_sources(told, layout), upstreams=read, commits=Commits(read, None, {called(url): url}))  # type: ignore[arg-type]
        return plan(ports, layout, told.recipe, told.image, limits(layout)).plan


@pytest.fixture
def engine(tmp_path: Path) -> Elsewhere:
    return Elsewhere(tmp_path)


class TestASourceThatIsNotOnGitHub:
    def test_is_compared_as_any_other_and_has_no_link_of_githubs(self, engine: Elsewhere, tmp_path: Path) -> None:
        with serve(engine.git.folder) as (url, _):
            found = engine.plan(tmp_path / "cache", url=url, new=engine.new)
        main_old, main_new, between = found.comparisons
        assert (main_old.behind, main_new.behind, between.ahead, between.behind, between.doubts) == (1, 0, 1, 0, ())
        assert {one.url for one in found.comparisons} == {""}
        assert between.repository == url.removeprefix("http://").removesuffix(".git") and not [note for note in found.notes if "compared" in note.en]

    def test_may_be_a_folder_of_this_machine_which_is_not_told(self, engine: Elsewhere, tmp_path: Path) -> None:
        found = engine.plan(tmp_path / "cache", url=str(engine.git.folder), new=engine.new)
        assert {one.repository for one in found.comparisons} == {"engine"} and found.comparisons[-1].ahead == 1

    def test_that_does_not_answer_is_told_with_every_comparison(self, engine: Elsewhere, tmp_path: Path) -> None:
        found = engine.plan(tmp_path / "cache", url="http://127.0.0.1:9/engine.git", new=engine.new)
        assert [(one.doubts, one.ahead) for one in found.comparisons] == [(("unreachable",), None)] * 3

    def test_lists_its_main_line_for_a_scan(self, engine: Elsewhere, tmp_path: Path) -> None:
        source = str(engine.git.folder)
        read = UpstreamSources(LocalProcess(), tmp_path / "cache", github=None)  # type: ignore[arg-type]
        listed = Commits(read, None, {"Engine": source}).history("engine", {engine.old})  # type: ignore[arg-type]
        assert [(one.sha, one.parents) for one in listed] == [(engine.new, (engine.old,)), (engine.old, ())]


class TestWhatIsNotCompared:
    @pytest.mark.parametrize("label", [None, "main", "12", "12ab", "no commit"])
    def test_for_want_of_the_new_images_commit_is_said(self, engine: Elsewhere, tmp_path: Path, label: str | None) -> None:
        found = engine.plan(tmp_path / "cache", url=str(engine.git.folder), new=label)
        assert [one.base for one in found.comparisons] == ["main"]
        note, = (one for one in found.notes if "built from" in one.en)
        assert "the new image" in note.en and "新镜像" in note.zh

    def test_as_its_label_says_is_said_where_the_release_stands_in(self, engine: Elsewhere, tmp_path: Path) -> None:
        """An image of a fork was judged by the release's sources, and its label's commit was shown beside them without a word."""
        engine.git.tag("v0.5.20", engine.new)
        found = engine.plan(tmp_path / "cache", url=str(engine.git.folder), new="75b7288f0" + "0" * 31)
        note, = (one for one in found.notes if "release tag" in one.en)
        assert note.en.startswith("v0.5.20-cu130 names commit 75b7288f0, which is none of ") and engine.new[:9] in note.zh
        whole = engine.plan(tmp_path / "cache", url=str(engine.git.folder), new=engine.new)
        assert not [one for one in whole.notes if "release tag" in one.en]

    def test_for_want_of_a_source_is_said(self, engine: Elsewhere, tmp_path: Path) -> None:
        found = engine.plan(tmp_path / "cache", new=engine.new)
        assert found.comparisons == ()
        assert [note.en for note in found.notes if "no source for docker.io/lmsysorg/sglang" in note.en]


class TestARepositorysName:
    @pytest.mark.parametrize(("source", "name"), [
        (GITHUB, "sgl-project/sglang"), (f"{GITHUB}.git", "sgl-project/sglang"), (f"{GITHUB}/", "sgl-project/sglang"),
        ("https://git.example/mirror/sgl-project/sglang.git", "git.example/mirror/sgl-project/sglang"),
        ("http://127.0.0.1:18473/sglang.git", "127.0.0.1:18473/sglang"), ("/srv/secret/sglang.git", "sglang"),
        ("file:///srv/secret/sglang", "sglang")])
    def test_tells_a_mirror_from_the_original_and_no_folder(self, source: str, name: str) -> None:
        assert called(source) == name

    def test_leads_to_the_layouts_own_source_of_it_before_githubs(self) -> None:
        layout = _layout(CASE.told)
        mirror = "https://git.example/sgl-project/sglang.git"
        assert address_of(layout, "sgl-project/sglang") == GITHUB
        assert address_of(changed(layout, sources={"x/y": mirror}), "SGL-project/sglang") == mirror
        assert address_of(changed(layout, sources={"x/y": mirror, "x/z": GITHUB}), "sgl-project/sglang") == GITHUB
        assert address_of(layout, "o/other") == "https://github.com/o/other"


class TestAChangeThatMemoryNames:
    LESSON = Lesson(bump="b", recipes=(CASE.told.recipe,), engine="sglang", image="i", at=datetime(2026, 9, 1, tzinfo=UTC))

    @pytest.mark.parametrize(("subject", "wanted"), [
        ("o/engine#5", "must-have"), ("must-have o/engine#5", "must-have"), ("must-not-have o/engine#5", "must-not-have"),
        ("docker.io/o/engine o/engine#5", None), ("dynamo o/engine#5", None), ("anything at all", None)])
    def test_is_wanted_as_it_was_and_a_policys_wish_is_the_policys(self, subject: str, wanted: str | None) -> None:
        lesson = changed(self.LESSON, release=Release(of="contains", subject=subject, says=Text(en="e", zh="z")))
        family = CASE.subject().family
        assert [one.wanted for one in memory.changes([lesson], family, "o/engine")] == ([wanted] if wanted else [])
        assert not list(memory.changes([changed(lesson, recipes=("another",))], family, "o/engine"))
