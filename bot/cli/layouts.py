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
_TOLD_BY_REMOTE = "refs/remotes/origin/HEAD"
# A clone's note of the remote's default branch (a fetch of one branch leaves none), then the usual names, the remote's first.
# Never HEAD: in a checkout of a pull request that is anybody's code.
_DEFAULTS = (_TOLD_BY_REMOTE, "refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main", "refs/heads/master")
_UNKNOWN = "which branch is the default one is not known here"
_FETCH = "fetch the default branch, then: git remote set-head origin --auto"


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
    if branch is None and _commit(place.repo, "HEAD") is not None:
        note(f"note: {_UNKNOWN}: no {LAYOUT_FILE} counts, and the preset own does; {_FETCH}; or name a layout: --layout {here}")
    elif data is None and here.exists():
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
    """The default branch of a local repository as people call it, and its files as committed; None where it has no commit,
    or where nobody can tell here which branch that is. What is checked out is no answer (SECURITY.md rule 1)."""
    for ref in _DEFAULTS:
        found = _commit(root, ref)
        if found is not None:
            return ref.removeprefix("refs/heads/").removeprefix("refs/remotes/"), found
        if ref == _TOLD_BY_REMOTE and _git(root, "symbolic-ref", "--quiet", ref):
            return None, None  # the remote's default branch is not here: one of a usual name beside it is another
    lone = _lone_branch(root)
    return (lone.removeprefix("refs/heads/"), _commit(root, lone)) if lone else (None, None)


def _commit(root: Path, ref: str) -> LocalCommit | None:
    return LocalCommit.of(LocalProcess(), root, ref)


def _lone_branch(root: Path) -> str | None:
    """The one branch of a repository that has no other and nothing of a remote: it is its default, whatever it is called."""
    branches = _git(root, "for-each-ref", "--count=2", "--format=%(refname)", "refs/heads", "refs/remotes")
    alone = len(branches) == 1 and branches[0].startswith("refs/heads/")
    return branches[0] if alone and not _git(root, "remote") and _commit(root, "FETCH_HEAD") is None else None


def _git(root: Path, *argv: str) -> list[str]:
    """The words that a command about refs prints."""
    return LocalProcess().run(("git", *argv), cwd=root, env={"LC_ALL": "C"})[1].decode("utf-8", "replace").split()


def generator_of(place: Place, layout: Layout) -> GuestGenerator | None:
    """The guest's generator, its code from the default branch's commit; None, and it is said, where that is not known. In a
    folder that is no git repository the files that lie there are all there is, and a person who runs us there has chosen them."""
    if layout.generator != "inferencex":
        return None
    code = default_tree(place.repo)[1] if is_repository(place.repo) else FolderTree(place.repo)
    if code is None:
        note(f"note: {_UNKNOWN}, and the generator of what is checked out is anybody's code: it is not run; {_FETCH}")
        return None
    return GuestGenerator(layout.generator_command, layout.generator_files, code)
