"""Other people's open work, told by the loopback GitHub and by git: which recipes it touches, and how a head would merge."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.adapters.git import CommandGit
from bot.adapters.neighbours import GitHubNeighbours
from bot.adapters.process import LocalProcess
from bot.adapters.tree import CommitTree
from bot.errors import Missing, Refusal
from bot.layout import load
from tests.adapters.githubs import REPOSITORY, Patience
from tests.rehearse.github_world import APP, World, served

LAYOUT = load("""version: 1
recipes:
  - files: configs/*.yaml
    key: "*"
    image: [.image]
    linked: {within: [.settings.*], settings: [CONFIG_FILE], roots: [{prefix: recipes/, folder: benchmarks/}], image: [.container]}
  - files: recipes/*.yaml
    image: [.image]
changelog: {file: perf-changelog.yaml}
""")
MASTER = b"""# every recipe
dsr1-fp8-b200:
  image: lmsysorg/sglang:v0.5.12
  model: a
glm5-fp4-b300:
  image: "lmsysorg/sglang:v0.5.12"
  settings: ["CONFIG_FILE=recipes/glm5.yaml"]
kimi-fp4-h200:
  image: vllm/vllm-openai:v0.28.0
"""
FILES = {"configs/nvidia-master.yaml": MASTER, "benchmarks/glm5.yaml": b"container: lmsysorg/sglang:v0.5.12\n",
         "recipes/own.yaml": b"name: own\nimage: a/b:1\n", "perf-changelog.yaml": b"- first\n"}


class Around:
    """A guest's repository on the loopback GitHub, and the adapter over it."""

    def __init__(self, world: World, folder: Path) -> None:
        self.world = world
        world.human.push("main", FILES, "recipes")
        self.git = CommandGit(LocalProcess(), str(world.git_dir), folder / "cache.git", name="b", email="b@example.com")
        self.adapter = GitHubNeighbours(world.hub.url, REPOSITORY, APP, Patience(), git=self.git, layout=LAYOUT, me="bumpbot[bot]",
                                        tree=lambda: CommitTree(self.git, self.git.tip("main") or ""))

    def offers(self, branch: str, *, draft: bool = False, **files: bytes) -> int:
        told = {name.replace("__", "/").replace("_yaml", ".yaml"): data for name, data in files.items()}
        self.world.human.push(branch, told, "change it")
        return self.world.human.open(branch, f"Change {branch}", draft=draft)


@contextmanager
def around(folder: Path) -> Iterator[Around]:
    with served(folder) as world:
        yield Around(world, folder)


def master(old: bytes, new: bytes) -> bytes:
    assert old in MASTER
    return MASTER.replace(old, new)


class TestAPullRequest:
    def test_touches_the_recipe_under_whose_name_its_lines_stand(self, tmp_path: Path) -> None:
        with around(tmp_path) as here:
            number = here.offers("ada/kimi", **{"configs__nvidia-master_yaml": master(b"openai:v0.28.0", b"openai:v0.29.0")})
            (found,) = here.adapter.work()
        assert (found.kind, found.name, found.by, found.recipes) == ("pull", f"#{number}", "maintainer", ("kimi-fp4-h200",))
        assert (found.image, found.ours, found.draft) == ("vllm/vllm-openai:v0.29.0", False, False)
        assert found.url.endswith(f"/pull/{number}") and found.files == ("configs/nvidia-master.yaml",)

    def test_that_is_older_than_the_default_branch_touches_only_what_it_changes(self, tmp_path: Path) -> None:
        with around(tmp_path) as here:
            here.offers("ada/glm", **{"configs__nvidia-master_yaml": master(b'"lmsysorg/sglang:v0.5.12"', b'"lmsysorg/sglang:v0.5.13"')})
            here.world.human.push("main", {"configs/nvidia-master.yaml": master(b"model: a", b"model: b")}, "move on")
            (found,) = here.adapter.work()
        assert (found.recipes, found.image) == (("glm5-fp4-b300",), "lmsysorg/sglang:v0.5.13")

    def test_touches_the_recipe_that_links_its_file(self, tmp_path: Path) -> None:
        with around(tmp_path) as here:
            here.offers("ada/linked", draft=True, benchmarks__glm5_yaml=b"container: lmsysorg/sglang:v0.5.12\nmax: 64\n")
            (found,) = here.adapter.work()
        assert (found.recipes, found.image, found.draft) == (("glm5-fp4-b300",), None, True)

    def test_touches_a_recipe_that_has_a_file_of_its_own(self, tmp_path: Path) -> None:
        with around(tmp_path) as here:
            here.offers("ada/own", recipes__own_yaml=b"name: own\nimage: a/b:2\n")
            (found,) = here.adapter.work()
        assert (found.recipes, found.image) == (("own",), "a/b:2")

    @pytest.mark.parametrize("files", [
        {"README_md": b"hello"}, {"configs__nvidia-master_yaml": MASTER.replace(b"# every recipe", b"# all recipes")},
    ])
    def test_of_other_files_and_of_comments_touches_none(self, tmp_path: Path, files: dict[str, bytes]) -> None:
        with around(tmp_path) as here:
            here.offers("ada/docs", **files)
            assert here.adapter.work() == ()

    def test_on_a_branch_that_the_layout_calls_ours_is_ours(self, tmp_path: Path) -> None:
        with around(tmp_path) as here:
            here.offers("bumpbot/own-1", recipes__own_yaml=b"name: own\nimage: a/b:3\n")
            assert [one.ours for one in here.adapter.work()] == [True]


class TestABranchWithoutAPullRequest:
    def test_is_told_where_it_changes_a_recipe_those_first_that_carry_its_name(self, tmp_path: Path) -> None:
        with around(tmp_path) as here:
            changed = {"configs/nvidia-master.yaml": master(b"openai:v0.28.0", b"openai:v0.30.0")}
            here.world.human.push("claude/update-kimi-fp4-h200-image", changed, "x")
            here.world.human.push("claude/kimi-fp4-h200-docs", {"README.md": b"x"}, "x")
            here.world.human.push("feature", changed, "x")
            found, other = here.adapter.work()
        assert (other.kind, other.name, other.recipes) == ("branch", "feature", ("kimi-fp4-h200",))
        assert (found.kind, found.name, found.recipes) == ("branch", "claude/update-kimi-fp4-h200-image", ("kimi-fp4-h200",))
        assert found.image == "vllm/vllm-openai:v0.30.0"


class TestMerging:
    def heads(self, here: Around, mine: dict[str, bytes], theirs: dict[str, bytes]) -> tuple[str, str]:
        here.world.human.push("bumpbot/x", mine, "mine")
        here.world.human.push("main", theirs, "theirs")
        head, base = here.git.tip("bumpbot/x"), here.git.tip("main")
        assert head and base
        return head, base

    @pytest.mark.parametrize(("mine", "theirs", "conflicts", "appends"), [
        ({"perf-changelog.yaml": b"- first\n- mine\n"}, {"perf-changelog.yaml": b"- first\n- theirs\n"}, ("perf-changelog.yaml",), True),
        ({"perf-changelog.yaml": b"- first\n- mine\n"}, {"perf-changelog.yaml": b"- other\n"}, ("perf-changelog.yaml",), False),
        ({"recipes/own.yaml": b"name: own\nimage: a/b:2\n"}, {"recipes/own.yaml": b"name: own\nimage: a/b:3\n"}, ("recipes/own.yaml",), False),
        ({"recipes/own.yaml": b"name: own\nimage: a/b:2\n"}, {"README.md": b"x"}, (), False),
    ])
    def test_is_tried_without_a_checkout(self, tmp_path: Path, mine: dict[str, bytes], theirs: dict[str, bytes],
                                         conflicts: tuple[str, ...], appends: bool) -> None:
        with around(tmp_path) as here:
            head, base = self.heads(here, mine, theirs)
            before = here.git.branches()
            merge = here.adapter.merge(head, base)
            assert (merge.conflicts, merge.appends, merge.head, merge.base) == (conflicts, appends, head, base)
            assert here.git.branches() == before

    def test_of_a_commit_that_is_not_there_is_missing(self, tmp_path: Path) -> None:
        with around(tmp_path) as here, pytest.raises(Missing):
            here.adapter.merge("f" * 40, here.git.tip("main") or "")

    def test_by_an_old_git_is_refused(self, tmp_path: Path) -> None:
        class Old:
            def run(self, argv, **more):
                return (129, b"", b"usage: git merge-tree") if "merge-tree" in argv else LocalProcess().run(argv, **more)

        git = CommandGit(Old(), str(tmp_path / "x.git"), tmp_path / "cache.git", name="b", email="b@example.com")
        with pytest.raises(Refusal, match="without a checkout"):
            git.conflicts("a" * 40, "b" * 40)
