"""A commit made from another one's tree, in one process and without a checkout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from bot.adapters.gitcli import GitCommand, check_path
from bot.errors import BadInput

FILE_MODES = ("100644", "100755")
Listing = Mapping[str, tuple[str, str]]
"""Path -> mode and object id."""
# What git itself leaves out at both ends of a name.
_CRUD = "".join(map(chr, range(33))) + ".,:;<>\"\\'"
# Made nowhere: the same stream takes it back, and the commit stays by its id alone.
_REF, _NOTHING = "refs/bumpbot/made", "0" * 40


class Author(Struct, frozen=True, kw_only=True):
    """Who commits."""

    name: str
    email: str

    def at(self, when: datetime) -> str:
        return f"{self.name.strip(_CRUD)} <{self.email.strip(_CRUD)}> {int(when.timestamp())} +0000"


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


def committed(git: GitCommand, who: str, parents: Sequence[str], listing: Listing, changes: Mapping[str, bytes | None],
              message: str) -> tuple[str, Listing]:
    """A commit on the first parent's tree with these files written (None removes), its id, and the rows of what was written. The
    other files' contents need not be here: they were never fetched. `who` with the moment, as a commit says it."""
    modes = {path: listing[path][0] if path in listing else FILE_MODES[0] for path, data in changes.items() if data is not None}
    stream = bytearray()
    for mark, path in enumerate(modes, 2):
        stream += _data(f"blob\nmark :{mark}\n", changes[path] or b"")
    stream += _data(f"commit {_REF}\nmark :1\nauthor {who}\ncommitter {who}\n", message.encode())
    lines = [f"{'merge' if at else 'from'} {parent}" for at, parent in enumerate(parents)]
    # Of files alone: a folder of that name would go with all that it holds.
    lines += [f"D {_quoted(path)}" for path, data in changes.items() if data is None and path in listing]
    lines += [f"M {mode} :{mark} {_quoted(path)}" for mark, (path, mode) in enumerate(modes.items(), 2)]
    lines += [f"get-mark :{mark}" for mark in range(1, len(modes) + 2)]
    lines += [f"reset {_REF}", f"from {_NOTHING}", "", "done", ""]
    stream += "\n".join(lines).encode("utf-8", "surrogateescape")
    oid, *blobs = git.run("fast-import", "--quiet", "--force", "--done", stdin=bytes(stream)).decode().split()
    return oid, dict(zip(modes, zip(modes.values(), blobs, strict=True), strict=True))


def _data(head: str, data: bytes) -> bytes:
    return b"%sdata %d\n%s\n" % (head.encode(), len(data), data)


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
