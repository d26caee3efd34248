"""A tree that a commit will hold, made from another one's in an index of its own; never a checkout."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.adapters.gitcli import GitCommand, check_path
from bot.errors import BadInput

FILE_MODES = ("100644", "100755")
Listing = Mapping[str, tuple[str, str]]
"""Path -> mode and object id."""


def written(git: GitCommand, parents: Sequence[str], listing: Listing,
            changes: Mapping[str, bytes | None]) -> tuple[str, Listing]:
    """The id of the first parent's tree with these files written (None removes), and the rows of what was written."""
    with tempfile.TemporaryDirectory(dir=git.folder, prefix="work-") as folder:
        return _made(git, Path(folder), parents, listing, changes)


def check_changes(listing: Listing, changes: Mapping[str, bytes | None]) -> None:
    """Each path is one, and no file stands where a folder must be; links and submodules are not written over."""
    kept = {path for path in listing if changes.get(path, b"") is not None}
    after = kept | {path for path, data in changes.items() if data is not None}
    folders: set[str] = set()
    for path in after:
        while (path := path.rpartition("/")[0]) and path not in folders:
            folders.add(path)
    for path, data in changes.items():
        check_path(path)
        if data is not None and path in listing and listing[path][0] not in FILE_MODES:
            raise BadInput("a symbolic link or submodule stands here", "name the file itself", file=path)
    for path in sorted(after & folders):
        raise BadInput("this is a file and a folder at once", "choose another path", file=path)


def _made(git: GitCommand, folder: Path, parents: Sequence[str], listing: Listing,
          changes: Mapping[str, bytes | None]) -> tuple[str, Listing]:
    """In an index of its own. `--missing-ok`: the other files' contents were never fetched."""
    index = {"GIT_INDEX_FILE": str(folder / "index")}
    git.run("read-tree", *(parents[:1] or ["--empty"]), env=index)
    new = [path for path, data in changes.items() if data is not None]
    files = [folder / str(number) for number in range(len(new))]
    for path, file in zip(new, files, strict=True):
        file.write_bytes(changes[path] or b"")
    names = "".join(f"{file}\n" for file in files).encode()
    blobs = git.run("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=names).decode().split()
    rows = [f"0 {'0' * 40}\t{path}" for path, data in changes.items() if data is None]
    modes = [listing[path][0] if path in listing else FILE_MODES[0] for path in new]
    made = dict(zip(new, zip(modes, blobs, strict=True), strict=True))
    rows += [f"{mode} {blob}\t{path}" for path, (mode, blob) in made.items()]
    told = "".join(f"{row}\0" for row in rows).encode()
    git.run("update-index", "-z", "--index-info", stdin=told, env=index)
    return git.run("write-tree", "--missing-ok", env=index).decode().strip(), made
