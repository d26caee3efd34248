"""upstream/: what the world tells about other people's repositories and packages, as small facts.

`upstream/*.yaml` holds one repository each. A folder `upstream/<owner>+<name>/<commit, tag or branch>/` holds files of a repository
as they stood there, `upstream/<package>==<version>/` those of a published wheel; they lie beside what YAML says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from bot.errors import BadInput
from bot.model.upstream import Commit as CommitFact
from bot.model.upstream import Comparison as ComparisonFact
from bot.rehearse.happenings import FilePath
from bot.rehearse.policy import Count, Text
from bot.rehearse.reading import Lines, read, text_of
from bot.rehearse.registry import Moment
from bot.rehearse.told.history import CommitTold, UpstreamTold

Sha = Annotated[str, Meta(pattern=r"^[0-9a-f]{40}$")]
Point = Annotated[str, Meta(pattern=r"^(?:[0-9a-f]{40}|main)$")]
Number = Annotated[int, Meta(ge=1)]
Files = Annotated[dict[FilePath, str], Meta(description="path -> text")]
_PACKAGE = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[A-Za-z0-9][A-Za-z0-9.+!_-]*)")
_REPOSITORY = re.compile(r"(?P<owner>[A-Za-z0-9-]+)\+(?P<name>[A-Za-z0-9._-]+)")


class Named(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A commit of somebody's history. `sha` may be invented where only the title is known; the file says so. `pull` is the number
    of the pull request that brought it."""

    sha: Sha
    title: Text
    date: Moment
    pull: Number | None = None


class UpstreamCommit(Named, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A commit and how it lies in the history. `parents` left out: the commit told before it; none: a root; a parent that is not
    told is where the known history ends. `tree` are files that it changes, with their new text (null: removed), `files` those of
    which only the name is told. `like`: a commit whose change it brings once more, as a cherry-pick does. `body` is the message
    below the title. `unnamed`: so many commits that nobody named lie between it and its parent. `patch_id`: what
    `git patch-id --stable` says of its change, where a patch of the guest must be seen to be the same."""

    parents: tuple[Sha, ...] | None = None
    tree: dict[FilePath, str | None] = {}
    files: tuple[FilePath, ...] = ()
    like: Sha | None = None
    body: str = ""
    unnamed: Count = 0
    patch_id: Sha | None = None


class Comparison(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What GitHub's compare route answers for `base...head`; `commits` are those of head alone, oldest first, and may
    be fewer than `ahead`: only those that somebody named. `main` is the tip of the main line when the story plays.
    `merge_base` null: the histories share nothing. What no comparison tells is answered from `commits` and their parents."""

    base: Point
    head: Point
    merge_base: Sha | None
    ahead: Count
    behind: Count
    commits: tuple[Named, ...] = ()


class Upstream(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of upstream/: facts about one repository. `commits` stand oldest first. A commit that no branch and no tag reaches
    is there and belongs to somebody else (an impostor); one that is not told is gone. `branches` left out: `main` is the last
    commit. `trees`: commit, tag or branch -> its files, as far as anybody asks for them; what later commits change lies over them.
    `packages`: the wheels that a package index has, name -> version -> files, the newest version first."""

    repository: Annotated[str, Meta(pattern=r"^[A-Za-z0-9-]+/[A-Za-z0-9._-]+$")]
    about: str = ""
    branches: dict[Text, Sha] | None = None
    tags: dict[Text, Sha] = {}
    commits: tuple[UpstreamCommit, ...] = ()
    trees: dict[Text, Files] = {}
    packages: dict[Text, dict[Text, Files]] = {}
    comparisons: tuple[Comparison, ...] = ()


def upstreams(folder: Path) -> tuple[Upstream, ...]:
    """What a scenario's upstream/ tells, repository by repository; BadInput with file, line and key for what does not hold."""
    found: dict[str, Upstream] = {}
    packages: dict[str, str] = {}
    for file in sorted(folder.glob("*.yaml")):
        told, lines = read(Upstream, file), Lines(file)
        _check(told, lines)
        if told.repository.lower() in found:
            lines.refuse(("repository",), f"another file tells of {told.repository} already", "tell of it in one file")
        for name in told.packages:
            if packages.setdefault(name.lower(), file.name) != file.name:
                lines.refuse(("packages", name), f"{packages[name.lower()]} tells of this package already",
                             "tell of it in one file")
        found[told.repository.lower()] = told
    for place in sorted(path for path in folder.glob("*") if path.is_dir()):
        one = _of_folder(place, found)
        found[one.repository.lower()] = one
    return tuple(found.values())


def told(one: Upstream) -> UpstreamTold:
    """The same facts as the in-memory ports take them."""
    commits = tuple(CommitTold(sha=commit.sha, title=commit.title, date=_date(commit), pull=commit.pull, parents=commit.parents,
                               tree=commit.tree, files=commit.files, like=commit.like, body=commit.body, unnamed=commit.unnamed,
                               patch_id=commit.patch_id)
                    for commit in one.commits)
    return UpstreamTold(repository=one.repository, about=one.about, commits=commits, tags=one.tags, branches=one.branches,
                        trees=one.trees, packages=one.packages)


def comparisons(files: Sequence[Upstream]) -> tuple[ComparisonFact, ...]:
    """The comparisons that are told as such."""
    return tuple(_fact(facts.repository, one) for facts in files for one in facts.comparisons)


def _fact(repository: str, told: Comparison) -> ComparisonFact:
    commits = tuple(CommitFact(sha=one.sha, title=one.title, date=_date(one), pull=one.pull) for one in told.commits)
    return ComparisonFact(
        repository=repository,
        base=told.base,
        head=told.head,
        merge_base=told.merge_base,
        ahead=told.ahead,
        behind=told.behind,
        commits=commits,
    )


def _date(commit: Named) -> str:
    return f"{commit.date:%Y-%m-%dT%H:%M:%SZ}"


def _check(told: Upstream, lines: Lines) -> None:
    known: set[str] = set()
    for index, commit in enumerate(told.commits):
        if commit.sha in known:
            lines.refuse(("commits", index, "sha"), f"{commit.sha[:12]} stands twice", "keep one")
        for parent in commit.parents or ():
            if parent == commit.sha or (parent not in known and parent in {one.sha for one in told.commits[index:]}):
                lines.refuse(("commits", index, "parents"), f"{parent[:12]} stands below its child",
                             "write the oldest commit first")
        if commit.like is not None and commit.like not in known:
            lines.refuse(("commits", index, "like"), f"no commit {commit.like[:12]} stands above", "name one that does")
        known.add(commit.sha)
    for key, names in (("branches", told.branches or {}), ("tags", told.tags)):
        for name, sha in names.items():
            if sha not in known and told.commits:
                lines.refuse((key, name), f"no commit {sha[:12]} is told", "add it to `commits`, or name another")
    named = known | set(told.branches or {"main": ""}) | set(told.tags)
    for name in told.trees:
        if told.commits and name not in named:
            lines.refuse(("trees", name), f"`{name}` is no commit, tag or branch of {told.repository}",
                         "name one that is told here")


def _of_folder(place: Path, found: dict[str, Upstream]) -> Upstream:
    """What one folder of files adds to what is told of its repository or package."""
    if (wheel := _PACKAGE.fullmatch(place.name)) is not None:
        name, version = wheel["name"], wheel["version"]
        owner = next((one for one in found.values() if name in one.packages), None) or Upstream(repository=f"index/{name}")
        versions = owner.packages.get(name, {})
        if version in versions:
            raise BadInput(f"{name} {version} is told in YAML already", "keep one of the two", file=str(place))
        return replace(owner, packages={**owner.packages, name: {**versions, version: dict(_files(place))}})
    if (repository := _REPOSITORY.fullmatch(place.name)) is None:
        raise BadInput("this folder is no repository and no package", "call it <owner>+<name> or <package>==<version>",
                       file=str(place))
    name = f"{repository['owner']}/{repository['name']}"
    one = found.get(name.lower()) or Upstream(repository=name)
    trees = {**one.trees}
    for ref in sorted(path for path in place.iterdir() if path.is_dir()):
        known = {commit.sha for commit in one.commits} | set(one.branches or {"main": ""}) | set(one.tags)
        if one.commits and ref.name not in known:
            raise BadInput(f"{ref.name} is no commit, tag or branch of {name}", "name one that its YAML file tells", file=str(ref))
        if ref.name in trees:
            raise BadInput(f"the files of {ref.name} are told in YAML already", "keep one of the two", file=str(ref))
        trees[ref.name] = dict(_files(ref))
    return replace(one, trees=trees)


def _files(place: Path) -> Iterator[tuple[str, str]]:
    for file in sorted(path for path in place.rglob("*") if path.is_file() and not path.is_symlink()):
        yield file.relative_to(place).as_posix(), text_of(file)
