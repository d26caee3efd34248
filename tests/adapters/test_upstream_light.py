"""The light way: GitHub's API answers as a clone does where it can, and says Missing for the rest."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from bot.adapters.process import LocalProcess
from bot.adapters.upstream.clone import Clone
from bot.adapters.upstream.contents import GitHubTree
from bot.adapters.upstream.files import CloneTree
from bot.adapters.upstream.light import GitHubHistory
from bot.adapters.upstream.sources import Commits, UpstreamSources
from bot.adapters.upstream.told import CloneHistory
from bot.errors import BadInput, Missing, Unreachable
from bot.upstream.contains import holds
from tests.adapters.test_upstream_clone import PARSER, Story
from tests.fakes.upstream_git import Repository
from tests.fakes.upstream_github import GitHub
from tests.upstream.test_contains import must


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "engine.git")


@pytest.fixture
def story(upstream: Repository) -> Story:
    return Story(upstream)


@pytest.fixture
def github(upstream: Repository, story: Story) -> GitHub:
    made = GitHub(upstream)
    made.pulls = {2: story.option, 3: story.fast, 5: story.after}
    return made


def both(upstream: Repository, github: GitHub) -> tuple[CloneHistory, GitHubHistory]:
    clone = CloneHistory(Clone(LocalProcess(), str(upstream.folder), upstream.folder.parent / "cache"))
    return clone, GitHubHistory(github.commits(), "o/engine")


class TestBothWays:
    @pytest.mark.parametrize("ask", [
        lambda told, story: [told.full(name) for name in (story.fast, story.fast[:9], "v1.0", "main")],
        lambda told, story: told.commit("v1.0"),
        lambda told, story: told.touched(story.first, "main"),
        lambda told, story: told.lines(story.first, "main", [PARSER]),
        lambda told, story: list(told.last_touched("main", PARSER)),
        lambda told, story: list(told.last_touched("main", PARSER, since=story.option, text="--ep")),
        lambda told, story: told.tags(),
        lambda told, story: [told.holds(story.fast, head) for head in ("main", "v1.0", "v0.9")],
        lambda told, story: [told.merged(number, "main") for number in (2, 3, 4)],
        lambda told, story: told.merged(3, "v1.0"),
        lambda told, story: list(told.saying("main", ["fast", "back"], since=story.first)),
        lambda told, story: told.patch_ids([story.fast, story.picked]),
        lambda told, story: told.same_change(told.patch_ids([story.fast])[story.fast], "v1.0", since=story.fast),
        lambda told, story: [holds(told, must(text), head).holds for text in ("#3", story.fast[:8], "#5")
                             for head in ("main", "v1.0", "v0.9")],
    ], ids=["full", "commit", "touched", "lines", "last", "last-text", "tags", "holds", "merged", "picked", "saying", "ids", "same",
            "containment"])
    def test_answer_the_same(self, upstream, github, story, ask) -> None:
        clone, light = both(upstream, github)
        assert ask(clone, story) == ask(light, story)

    def test_read_the_same_files(self, upstream, github, story) -> None:
        clone, light = both(upstream, github)
        one, other = CloneTree(clone.clone, story.after), GitHubTree(light.api, "o/engine", story.after)
        assert one.paths() == other.paths() and one.paths("engine/k") == other.paths("engine/k") != []
        assert [one.read(path) for path in (*one.paths(), "none")] == [other.read(path) for path in (*one.paths(), "none")]
        asked = len(github.asked)
        assert other.read(PARSER) and len(github.asked) == asked

    @pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a//b", ".git/config"])
    def test_read_nothing_outside(self, upstream, github, story, path) -> None:
        clone, light = both(upstream, github)
        for tree in (CloneTree(clone.clone, story.after), GitHubTree(light.api, "o/engine", story.after)):
            with pytest.raises(BadInput):
                tree.read(path)


class TestTheLightWayAlone:
    def test_says_missing_for_what_is_gone_and_for_what_only_a_clone_can_tell(self, github, story) -> None:
        light = GitHubHistory(github.commits(), "o/engine")
        for ask in (lambda: light.full("ab" * 20), lambda: light.saying(None, ["x"]), lambda: light.patch_ids(["a"] * 61)):
            with pytest.raises(Missing):
                ask()
        assert light.merged(77, "main") is None

    @pytest.mark.parametrize("name", ["deadbeef1", "ab" * 20])
    def test_takes_no_branch_or_tag_for_an_id_as_github_does(self, upstream, github, story, name) -> None:
        place = upstream.folder / "refs/heads" / name
        place.write_text(f"{story.after}\n")
        github.answers[f"/commits/{name}"] = httpx.Response(200, json=github._json(story.after))
        github.answers[f"/compare/{story.first}...{name}"] = github._compare(story.first, story.after, slice(0, 100))
        light, commits = GitHubHistory(github.commits(), "o/engine"), github.commits()
        for ask in (lambda: light.full(name), lambda: commits.compare("o/engine", story.first, name),
                    lambda: commits.contains("o/engine", story.first, name)):
            with pytest.raises(Missing, match="only a branch or tag"):
                ask()

    def test_says_missing_where_github_lists_fewer_commits_than_there_are(self, upstream, github, story) -> None:
        for number in range(120):
            upstream.commit(f"n {number}")
        with pytest.raises(Missing, match="clone"):
            GitHubHistory(github.commits(pages=1), "o/engine").saying("main", ["n"], since=story.first)
        with pytest.raises(Missing, match="one by one"):
            GitHubHistory(github.commits(), "o/engine").touched(story.first, "main")

    def test_takes_no_content_that_is_not_the_files_own(self, github, story) -> None:
        tree = GitHubTree(github.commits().api, "o/engine", story.after)
        blob = github.git("rev-parse", f"{story.after}:{PARSER}").strip()
        github.answers[f"/git/blobs/{blob}"] = httpx.Response(200, json={"content": "aGVsbG8="})
        with pytest.raises(BadInput, match="is not the content"):
            tree.read(PARSER)

    def test_says_that_a_list_was_cut_and_that_the_limit_is_reached(self, github, story) -> None:
        github.answers[f"/git/trees/{story.after}"] = httpx.Response(200, json={"truncated": True, "tree": []})
        with pytest.raises(Unreachable, match="clone"):
            GitHubTree(github.commits().api, "o/engine", story.after).paths()
        github.answers["/tags"] = httpx.Response(403, headers={"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9999999999"})
        with pytest.raises(Unreachable, match="rate limit"):
            GitHubHistory(github.commits(), "o/engine").tags()


class TestWhichWay:
    def sources(self, tmp_path: Path, github: GitHub, **options) -> UpstreamSources:
        said: list[str] = []
        made = UpstreamSources(LocalProcess(), tmp_path / "cache", github.commits(), say=said.append, **options)
        made.said = said  # type: ignore[attr-defined]
        return made

    def test_a_folder_is_read_by_git_whatever_is_wished(self, upstream, github, story, tmp_path) -> None:
        made = self.sources(tmp_path, github, way="github")
        assert made.tree(str(upstream.folder), "v1.0").read(PARSER) == b"--tp\n--ep\n"
        assert made.history(str(upstream.folder)).full("v1.0") == story.picked and github.asked == []

    def test_github_is_asked_where_the_layout_says_so(self, github, story, tmp_path) -> None:
        made = self.sources(tmp_path, github, way="github")
        assert made.tree("https://github.com/o/engine", "v1.0").read(PARSER) == b"--tp\n--ep\n"
        assert made.history("https://github.com/o/engine.git").full("v1.0") == story.picked

    def test_github_is_asked_where_no_clone_can_be_had_and_it_is_said(self, github, story, tmp_path) -> None:
        class NoGit:
            def run(self, argv, **options):
                return (128, b"", b"fatal: unable to access 'https://github.com/o/engine/': no line") if argv[1] != "init" else (0, b"", b"")

        made = UpstreamSources(NoGit(), tmp_path / "cache", github.commits(), say=(said := []).append)
        assert made.history("https://github.com/o/engine").full("v1.0") == story.picked
        assert "could not be cloned" in said[0] and len(said) == 1

    def test_another_host_has_no_other_way(self, github, tmp_path) -> None:
        class NoGit:
            def run(self, argv, **options):
                return (128, b"", b"fatal: unable to access") if argv[1] != "init" else (0, b"", b"")

        with pytest.raises(Unreachable):
            UpstreamSources(NoGit(), tmp_path / "cache", github.commits()).history("https://git.example/x")
        with pytest.raises(BadInput):
            self.sources(tmp_path, github).history("ext::sh -c id")
        with pytest.raises(Missing):
            self.sources(tmp_path, github).wheel("x", "1")

    def test_commits_are_compared_in_the_clone_of_a_known_repository(self, upstream, github, story, tmp_path) -> None:
        near = Commits(self.sources(tmp_path, github), github.commits(), {"O/engine": str(upstream.folder)})
        far = Commits(self.sources(tmp_path, github), github.commits(), {})
        one, other = near.compare("o/engine", "v1.0", "main"), far.compare("o/engine", "v1.0", "main")
        assert (one.ahead, one.behind, one.merge_base, one.commits) == (other.ahead, other.behind, other.merge_base, other.commits)
        assert near.contains("o/engine", story.fast, "main") is far.contains("o/engine", story.fast, "main") is True
