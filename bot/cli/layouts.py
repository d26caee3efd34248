"""Which layout and which files a command works with."""

from __future__ import annotations

from pathlib import Path

from bot.adapters.assets import PackagedAssets
from bot.adapters.generator import GuestGenerator
from bot.adapters.process import LocalProcess
from bot.adapters.tree import FolderTree, LocalCommit
from bot.cli.output import note
from bot.cli.packaged import LAYOUT_FILE, PRESETS, layout_from, presets
from bot.cli.place import Place, content, folder
from bot.errors import BadArguments, Refusal
from bot.layout import Layout
from bot.ports import Tree
from bot.recipe.shelf import Shelf

REPO_HINT = "name a repository with --repo"
# A clone's note of the remote's default branch (a fetch of one branch leaves none), then the usual names, the remote's first,
# then whatever is checked out.
_DEFAULTS = ("refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main",
             "refs/heads/master", "HEAD")


def layout_of(place: Place, assets: PackagedAssets) -> Layout:
    """The layout that --layout names (a preset or a file), else the one of the default branch, else the preset `own`.

    In a folder that is no git repository its own file counts. In one that is, the file beside the work is not policy
    (SECURITY.md rule 1): what only stands there is told on stderr and not used.
    """
    if place.layout is not None:
        return named(place.layout, assets)
    here = place.repo / LAYOUT_FILE
    if not is_repository(folder(place.repo, REPO_HINT)):
        return layout_from(assets, content(here, REPO_HINT) if here.exists() else None, file=str(here))
    branch, committed = default_tree(place.repo)
    data = committed.read(LAYOUT_FILE) if committed else None
    if branch == "HEAD" and not _lone_branch(place.repo):
        note(f"note: which branch is the default one is not known here; {LAYOUT_FILE} of what is checked out counts")
    if data is None and here.exists():
        note(f"note: {LAYOUT_FILE} is not on {branch or 'any branch'} yet and is not used; --layout {here} uses it")
    return layout_from(assets, data, file=f"{LAYOUT_FILE} of {branch}")


def named(name: str, assets: PackagedAssets) -> Layout:
    """A preset by its name, or a layout file."""
    if name in PRESETS:
        return layout_from(assets, presets(assets)[name].encode(), file=f"layout/presets/{name}.yml")
    file = Path(name)
    if not file.is_file():
        why = "a folder" if file.is_dir() else "no such file"
        raise BadArguments(f"layout {name}: {why}", f"name a file, or a preset: {', '.join(PRESETS)}")
    return layout_from(assets, content(file, "name a layout file"), file=name)


def tree_of(place: Place) -> FolderTree:
    """The files of the working tree at --repo."""
    root = folder(place.repo, REPO_HINT)
    if bare(root):
        raise Refusal(f"{root} is a bare repository: it has no files to work on", "clone it, and name the clone with --repo")
    return FolderTree(root)


def unread(tree: Shelf, layout: Layout) -> None:
    """Tells which files were passed over: a recipe elsewhere does not suffer from them, and may share a file with theirs."""
    for fault in tree.faults(layout):
        note(f"note: passed over: {fault}")


def is_repository(root: Path) -> bool:
    """Whether a folder is the top of a git repository, bare or not; what lies above it does not count."""
    return (root / ".git").exists() or ((root / "HEAD").is_file() and (root / "objects").is_dir())


def bare(root: Path) -> bool:
    """Whether a folder is a repository without files to work on."""
    return is_repository(root) and not (root / ".git").exists()


def default_tree(root: Path) -> tuple[str | None, Tree | None]:
    """The default branch of a local repository as people call it, and its files as committed; None where it has no commit."""
    for ref in _DEFAULTS:
        found = LocalCommit.of(LocalProcess(), root, ref)
        if found is not None:
            return ref.removeprefix("refs/heads/").removeprefix("refs/remotes/"), found
    return None, None


def _lone_branch(root: Path) -> bool:
    """Whether a repository has one branch and no remote's: it is its default, whatever it is called; of others nobody can tell."""
    argv = ("git", "for-each-ref", "--count=2", "--format=%(refname)", "refs/heads", "refs/remotes")
    branches = LocalProcess().run(argv, cwd=root, env={"LC_ALL": "C"})[1].split()
    return [branch.startswith(b"refs/heads/") for branch in branches] == [True]


def generator_of(place: Place, layout: Layout) -> GuestGenerator | None:
    """The guest's generator, its code from the default branch's commit. In a folder that is no git repository the files that
    lie there are all there is, and a person who runs us there has chosen them."""
    if layout.generator != "inferencex":
        return None
    code = default_tree(place.repo)[1] if is_repository(place.repo) else FolderTree(place.repo)
    return GuestGenerator(layout.generator_command, layout.generator_files, code) if code is not None else None
