"""A repository of somebody else's, for reading alone: bare and without file contents in our cache, or in place where it lies on
this machine. Never checked out; nothing of it is run (SECURITY 10)."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from time import time

from bot.adapters.gitcli import REMOTE_S, GitCommand, Remote, meaning
from bot.errors import BadInput, Missing, Refusal, Unreachable
from bot.ports import Process

# A first fetch of an engine's commits and folders takes minutes on a slow line.
FIRST_S = 900.0
# As old may be what a clone says of branches and tags; a commit that is asked for by its id is fetched whenever it is not here.
STALE_S = 1800.0
# Of so many it costs less to ask for each than to walk a whole tree.
FEW = 50
CLONES, CLONES_BYTES = 8, 6_000_000_000
ID = re.compile(r"[0-9a-f]{4,64}")
OID = re.compile(r"[0-9a-f]{40}")
# Any name git would take, without what it would read as an option, a range, a refspec or an expression.
_REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+-]{0,254}")
_REFS = ("--branches", "--tags", "--remotes")
_COMMON = ("--quiet", "--no-write-fetch-head", "--no-recurse-submodules")


def check_name(name: str) -> str:
    """A commit, tag or branch as it is; BadInput for what git could take for anything else."""
    if not _REF.fullmatch(name) or ".." in name or name.endswith(("/", ".", ".lock")) or "//" in name:
        raise BadInput(f"{name[:80]!r} is no commit, tag or branch", "write a hash, or a name without spaces and ..")
    return name


class Clone:
    """`source` is an address (cloned into `cache`) or a folder on this machine (read in place, never written)."""

    def __init__(self, process: Process, source: str, cache: Path, *, token: str | None = None) -> None:
        remote = Remote.parse(source)
        self.local, self._fresh = remote.protocol == "file", False
        self._refs: tuple[str, ...] | None = None
        self.fetched = 0
        if self.local:
            where = _found(process, Path(remote.url.removeprefix("file://")))
            # No protocol at all: a partial clone of somebody's would else fetch, and write, when it is read.
            self.git = GitCommand(process, where, Remote(url=str(where), protocol="none"))
        else:
            folder = Path(cache).absolute() / f"{hashlib.sha256(remote.url.encode()).hexdigest()[:16]}.git"
            self.git = GitCommand(process, folder, remote, token=token)
            _note(folder)
            if not any((folder / name).exists() for name in ("packed-refs", "filled")):
                self.refresh()

    def run(self, *argv: str, stdin: bytes = b"", limit_s: float = 120.0) -> bytes:
        """What git printed, nothing being written by the way."""
        return self.git.run("--no-optional-locks", *argv, stdin=stdin, limit_s=limit_s)

    def answer(self, *argv: str, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
        """Exit code, stdout and stderr."""
        return self.git.answer("--no-optional-locks", *argv, stdin=stdin)

    def kept(self, name: str, *argv: str) -> bytes:
        """What git prints of a repository's commits, kept beside a clone of ours for as long as its branches and tags stand."""
        if self.local:
            return self.run(*argv)
        refs = self.run("for-each-ref", "--format=%(objectname) %(refname)")
        return self.remembered(name, "\0".join(argv).encode() + refs, lambda: self.run(*argv))

    def remembered(self, name: str, asked: bytes, answer: Callable[[], bytes]) -> bytes:
        """An answer kept beside a clone of ours, until the next question under its name. `asked` is all that it depends on. For a
        repository in place nothing is written."""
        if self.local:
            return answer()
        stand, file = hashlib.sha256(asked).hexdigest().encode(), self.git.folder / f"{name}.kept"
        if file.exists() and (old := file.read_bytes()).startswith(stand):
            return old[len(stand):]
        out = answer()
        fresh = self.git.folder / f"{name}.{token_hex(8)}"
        fresh.write_bytes(stand + out)
        fresh.replace(file)
        return out

    @property
    def shallow(self) -> bool:
        """Whether the history ends where somebody cut it off."""
        return (self.git.folder / "shallow").exists()

    def refs(self) -> tuple[str, ...]:
        """The words that name every branch and tag to `rev-list`."""
        if self._refs is None:
            self._refs = (*_REFS, *(("HEAD",) if self._points("HEAD") else ()))
        return self._refs

    def refresh(self) -> bool:
        """Fetches all branches and tags, once in the life of this object; whether there was anything to ask."""
        if self.local or self._fresh:
            return False
        self._fresh, self._refs = True, None
        self.fetched += 1
        told = self.git.run("ls-remote", "--symref", "origin", "HEAD", limit_s=REMOTE_S).decode("utf-8", "replace")
        head = re.match(r"ref: (refs/heads/\S+)\tHEAD", told)
        specs = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
        self._fetch("--prune", "--no-tags", "--filter=blob:none", "origin", *specs, limit_s=FIRST_S)
        if head and _REF.fullmatch(head[1]):
            self.git.run("symbolic-ref", "HEAD", head[1])
        (self.git.folder / "filled").touch()
        return True

    def freshen(self) -> None:
        """Fetches what came in the meantime before a branch or the tags are read; the old ones will do where nobody answers."""
        filled = self.git.folder / "filled"
        if not self.local and not self._fresh and time() - filled.stat().st_mtime > STALE_S:
            with suppress(Unreachable):
                self.refresh()

    def known(self, name: str) -> str | None:
        """The one commit of that id, or of that tag or branch, as far as it is here. BadInput: several have that short id. What
        reads as an id is one: a branch may bear any digits, and who may push one would choose what an image is said to hold.
        `refs/tags/20260901` is a name whatever it is made of."""
        check_name(name)
        if ID.fullmatch(name):
            found = self._with_id(name)
            if len(found) > 1:
                raise BadInput(f"{name} is the short id of {len(found)} commits", "write more of its digits")
            return found[0] if found else None
        if name.startswith("refs/"):
            return self._points(name)
        refs = [f"refs/{place}/{name}" for place in ("tags", "heads", "remotes/origin")]
        return next((oid for ref in refs if (oid := self._points(ref))), self._points("HEAD") if name in ("main", "HEAD") else None)

    def find(self, name: str) -> str:
        """The same, fetched where it is not here. Missing: it is gone."""
        if not ID.fullmatch(name):
            self.freshen()
        found = self.known(name)
        if found is None and self.refresh():
            found = self.known(name)
        if found is None and OID.fullmatch(name) and not self.local:
            with suppress(Missing, Refusal):
                self._fetch("--no-tags", "--filter=blob:none", "origin", name, limit_s=REMOTE_S)
            found = self.known(name)
        if found is None:
            raise Missing(f"there is no commit, tag or branch {name} upstream", "it is gone, or was never there")
        return found

    def complete(self, blobs: Collection[str], commits: Sequence[str]) -> None:
        """Fetches the contents among these (of these commits or their parents) that are not here, in one request: git asked for one
        of them would fetch it alone. Which are missing it tells only of whole trees."""
        if self.local or not blobs:
            return
        if len(blobs) <= FEW and self._here(blobs):
            return
        given = "".join(f"{commit}\n{commit}^@\n" for commit in commits).encode()
        told = self.run("rev-list", "--objects", "--no-object-names", "--missing=print", "--no-walk=unsorted", "--stdin",
                        stdin=given)
        missing = {line[1:] for line in told.decode().splitlines() if line.startswith("?")}.intersection(blobs)
        if missing:
            self.git.run("-c", "fetch.negotiationAlgorithm=noop", "fetch", *_COMMON, "--no-tags", "--filter=blob:none", "--stdin",
                         "origin", stdin="".join(f"{line}\n" for line in sorted(missing)).encode(), limit_s=FIRST_S)

    def _here(self, blobs: Collection[str]) -> bool:
        """Whether all of these are here. Without a protocol git cannot fetch one by the way; it gives up at the first."""
        asked = "".join(f"{blob}\n" for blob in blobs).encode()
        code, out, _ = self.git.answer("--no-optional-locks", "cat-file", "--batch-check=%(objectname)", stdin=asked,
                                       env={"GIT_ALLOW_PROTOCOL": "none"})
        return code == 0 and out == asked

    def _fetch(self, *words: str, limit_s: float) -> None:
        code, _, err = self.git.answer("fetch", *_COMMON, *words, limit_s=limit_s)
        if code and re.search(rb"dumb http|filter|capabilit", err):  # a server that cannot leave contents out
            words = tuple(word for word in words if not word.startswith("--filter"))
            code, _, err = self.git.answer("fetch", *_COMMON, *words, limit_s=limit_s)
        if code:
            raise meaning("fetch", err)

    def _points(self, ref: str) -> str | None:
        code, out, _ = self.answer("rev-parse", "--quiet", "--verify", "--end-of-options", f"{ref}^{{commit}}")
        return out.decode().strip() if code == 0 else None

    def _with_id(self, text: str) -> list[str]:
        """Asked of the object store: a branch may bear a name of hexadecimal digits."""
        objects = self.answer("rev-parse", f"--disambiguate={text}")[1]
        told = self.run("cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=objects).decode()
        return [line.partition(" ")[0] for line in told.splitlines() if line.endswith(" commit")]


def _found(process: Process, folder: Path) -> Path:
    """The git directory of a folder of somebody's, and of no folder above it."""
    env = {"LC_ALL": "C", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
           "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    if not folder.is_dir():
        raise Missing(f"there is no folder {folder}", "name a clone of the engine's repository")
    code, out, err = process.run(["git", "rev-parse", "--absolute-git-dir"], cwd=folder, env=env)
    if b"not a git repository" in err:
        raise Missing(f"{folder} is no git repository", "name a clone of the engine's repository")
    if code:
        raise meaning("rev-parse", err)
    return Path(os.fsdecode(out.removesuffix(b"\n")))


def _note(folder: Path) -> None:
    """Notes that a clone is used now; those used longest ago go, beyond a number and a size."""
    (folder / "used").touch()
    try:
        kept = sorted((other for other in folder.parent.glob("*.git") if (other / "used").exists() and other != folder),
                      key=lambda other: (other / "used").stat().st_mtime, reverse=True)
        room = CLONES_BYTES
        for place, other in enumerate(kept):
            room -= sum(file.stat().st_size for file in other.glob("objects/pack/*"))
            if place + 1 >= CLONES or room < 0:
                shutil.rmtree(other, ignore_errors=True)
    except OSError:
        return  # another process tidies the same cache


