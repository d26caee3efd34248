"""One repository's branches, read and moved by the git command line from a private bare cache; never a checkout."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from bot.adapters.gitcli import REMOTE_S, GitCommand, Remote, check_branch, check_oid, check_path, meaning
from bot.adapters.gittree import FILE_MODES, Author, Listing, check_changes, committed
from bot.errors import BadInput, Missing, Refusal
from bot.ports import Process

EMPTY = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
_LISTINGS, _BATCH, _BLOB_BYTES = 8, 128, 64_000_000
_MOVED = (" ", "*")
# The server's words when somebody else moved first; any other rejection is a rule of the server.
_RACE = re.compile(r"non-fast-forward|fetch first|cannot lock ref|failed to (?:lock|update ref)|"
                   r"already exists|stale info")
_UNSURE = re.compile(r"failed to report|remote failure|unpacker error|[Ii]nternal [Ss]erver [Ee]rror")


class CommandGit:
    """Satisfies the Git port for `remote` (URL or folder), working in `cache`; one thread at a time.

    Branches named in `shallow` are fetched with depth 1 (the ledger: `contains` sees one commit there), all others
    with their whole history; all without file contents where the server can, which are fetched when read. A folder
    listed by `entries` is fetched whole at its first read: 500 bumps are one request, not 500.
    """

    def __init__(self, process: Process, remote: str, cache: Path, *, name: str, email: str, token: str | None = None,
                 shallow: Collection[str] = ()) -> None:
        if re.search(r"[<>\x00-\x1f]", name + email) or not name.strip() or not email.strip():
            raise BadInput("not a name and address for commits", "use plain words without < and >")
        self._git = GitCommand(process, Path(cache).absolute(), Remote.parse(remote), token=token)
        self._author = Author(name=name, email=email)
        self._shallow = frozenset(shallow)
        self._tips: dict[str, str] = {}  # where this object saw each branch last: its commits are here
        self._listings: OrderedDict[str, Listing] = OrderedDict()
        self._listed: dict[tuple[str, str], bool] = {}
        self._blobs: OrderedDict[str, bytes] = OrderedDict()

    def tip(self, branch: str) -> str | None:
        """Fetches a branch and tells its commit; None when it does not exist."""
        return self.tips((branch,))[branch]

    def tips(self, branches: Collection[str]) -> Mapping[str, str | None]:
        """As `tip` of each, at one moment: the remote is asked once."""
        refs = {branch: f"refs/heads/{check_branch(branch)}" for branch in branches}
        told = self._ls("origin", *refs.values())
        return {branch: self._here(branch, told[ref]) if ref in told else None for branch, ref in refs.items()}

    def read(self, oid: str, path: str) -> bytes | None:
        """A plain file's content; None when there is none (symbolic links are not followed)."""
        mode, blob = self._listing(oid).get(check_path(path), ("", ""))
        if mode not in FILE_MODES:
            return None
        if blob == EMPTY:
            return b""
        if blob not in self._blobs:
            self._load(oid, path, blob)
        return self._blobs[blob]

    def entries(self, oid: str, folder: str = "") -> Mapping[str, str]:
        """Every plain file below a folder of a commit: path -> object id."""
        listing, folder = self._listing(oid), folder.rstrip("/")
        below = f"{check_path(folder)}/" if folder else ""
        found = {path: blob for path, (mode, blob) in listing.items() if mode in FILE_MODES and path.startswith(below)}
        if folder and found:
            self._listed.setdefault((oid, below), False)
        return found

    def commit(self, parents: Sequence[str], changes: Mapping[str, bytes | None], message: str, *,
               when: datetime) -> str:
        """A commit on the first parent's tree with these files written (None removes); modes stay as they are."""
        listing = self._listing(parents[0]) if parents else {}
        check_changes(listing, changes)
        if "\0" in message or not message.strip():
            raise BadInput("not a commit message", "write a line of text")
        known = [check_oid(parent) for parent in parents]
        oid, made = committed(self._git, self._author.at(when), known, listing, changes, message)
        self._remember(oid, {path: row for path, row in listing.items() if path not in changes} | made, changes)
        return oid

    def _remember(self, oid: str, listing: Listing, changes: Mapping[str, bytes | None]) -> None:
        """What a commit of our own holds: who has just written a file need not ask git for it."""
        self._list(oid, dict(sorted(listing.items(), key=lambda row: row[0].encode("utf-8", "surrogateescape"))))
        for path, data in changes.items():
            if data:
                self._keep({listing[path][1]: data}, listing[path][1])

    def push(self, branch: str, oid: str) -> bool:
        """Fast-forward only. True when this push moved the branch; False when refused or already there."""
        ref = f"refs/heads/{check_branch(branch)}"
        code, out, err = self._git.answer("push", "--porcelain", "--no-verify", "origin", f"{check_oid(oid)}:{ref}",
                                          limit_s=REMOTE_S)
        for line in out.decode("utf-8", "replace").splitlines():
            flag, _, rest = line.partition("\t")
            names, _, summary = rest.partition("\t")
            if len(flag) == 1 and names.endswith(f":{ref}"):
                return self._moved(branch, oid, flag, summary, code, err)
        raise meaning("push", err)

    def contains(self, oid: str, ancestor: str) -> bool:
        """Whether `ancestor` is reachable from `oid`; it need not be known here: what was never fetched is not."""
        return check_oid(ancestor) in self._git.run("rev-list", "--end-of-options", check_oid(oid)).decode().split()

    def branches(self) -> Mapping[str, str]:
        """Every branch of the remote and its commit, in one question; nothing is fetched."""
        return {name.removeprefix("refs/heads/"): oid for name, oid in self._ls("--heads", "origin").items()}

    def merge_base(self, one: str, other: str) -> str | None:
        """The best common ancestor of two commits that were fetched; None where they share nothing."""
        code, out, err = self._git.answer("merge-base", check_oid(one), check_oid(other))
        if code not in (0, 1):
            raise meaning("merge-base", err)
        return out.decode().strip() or None

    def conflicts(self, head: str, base: str) -> Sequence[str]:
        """The files that conflict where `head` is merged into `base`, without a checkout: no ref is written. Refusal where this
        git cannot (before 2.38)."""
        code, out, err = self._git.answer("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z",
                                          check_oid(base), check_oid(head), limit_s=REMOTE_S)
        if code == 129 or (code > 1 and b"usage:" in err):
            raise Refusal("git on this machine cannot merge without a checkout", "install git 2.38 or newer")
        if code > 1 or not out:
            # A commit that is not here ends with 1 as a conflict does, and without the tree's id.
            raise meaning("merge-tree", err) if code > 1 else Missing("a commit to merge is not here", "fetch its branch first")
        return tuple(dict.fromkeys(out.decode("utf-8", "replace").split("\0")[1:-1]))

    def author(self, oid: str) -> str:
        """The e-mail address of a commit's committer."""
        head = self._objects([check_oid(oid)], "commit")[oid].partition(b"\n\n")[0].decode("utf-8", "replace")
        line = next((line for line in head.splitlines() if line.startswith("committer ")), "")
        return line.rpartition(">")[0].rpartition("<")[2]

    def _ls(self, *words: str) -> Mapping[str, str]:
        """Refs of the remote -> object ids."""
        told = self._git.run("ls-remote", "--refs", *words, limit_s=REMOTE_S).decode("utf-8", "replace")
        return {name: oid for oid, _, name in (line.partition("\t") for line in told.splitlines())}

    def _here(self, branch: str, there: str) -> str | None:
        """The branch's commit, fetched where the cache has another one."""
        if self._tips.get(branch) == there:
            return there
        known = self._known(branch)
        if known != there:
            self._fetch(branch)
            known = self._known(branch)
        if known is not None:
            self._tips[branch] = known
        return known

    def _known(self, branch: str) -> str | None:
        code, out, _ = self._git.answer("show-ref", "--verify", "--hash", f"refs/remotes/origin/{branch}")
        return out.decode().strip() if code == 0 else None

    def _fetch(self, branch: str) -> None:
        """The `+` moves our own note of the branch, which may be rewound by whoever owns it; it never travels."""
        refspec = f"+refs/heads/{branch}:refs/remotes/origin/{branch}"
        common = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
        depth = ("--depth=1",) if branch in self._shallow else ()
        code, _, err = self._git.answer("fetch", *common, *depth, "--filter=blob:none", "origin", refspec,
                                        limit_s=REMOTE_S)
        if code == 0:
            return
        # A server that knows neither depth nor filter (plain files over http) still serves whole histories.
        if re.search(rb"dumb http|shallow|filter|capabilit", err):
            self._git.run("fetch", *common, "origin", refspec, limit_s=REMOTE_S)
            return
        raise meaning("fetch", err)

    def _moved(self, branch: str, oid: str, flag: str, summary: str, code: int, err: bytes) -> bool:
        if flag in _MOVED and code == 0:
            self._tips[branch] = oid  # git itself notes it for whoever takes this cache next: `remote.origin.fetch`
            return True
        if flag == "!" and _UNSURE.search(summary):
            raise meaning("push", summary.encode())
        if flag == "!" and "[rejected]" not in summary and not _RACE.search(summary):
            told = "; ".join(line for line in (summary, *_told(err)) if line)
            raise Refusal(f"the repository refuses a push to {branch}: {meaning('push', told.encode()).reason}",
                          "look at the branch's rules and at the account's rights")
        return False

    def _listing(self, oid: str) -> Listing:
        if check_oid(oid) not in self._listings:
            out = self._git.run("ls-tree", "-r", "-z", "--full-tree", oid)
            made: dict[str, tuple[str, str]] = {}
            for row in out.decode("utf-8", "surrogateescape").split("\0")[:-1]:
                facts, _, path = row.partition("\t")
                mode, _, blob = facts.split(" ")
                made[path] = (mode, blob)
            self._list(oid, made)
        self._listings.move_to_end(oid)
        return self._listings[oid]

    def _list(self, oid: str, listing: Listing) -> None:
        self._listings[oid] = listing
        while len(self._listings) > _LISTINGS:
            self._listings.popitem(last=False)

    def _load(self, oid: str, path: str, blob: str) -> None:
        """Reads a blob, and with it what stands after it in the folder that the caller listed."""
        below = next((folder for commit, folder in self._listed if commit == oid and path.startswith(folder)), None)
        wanted = [blob]
        if below is not None:
            self._complete(oid, below)
            rows = sorted((name, row[1]) for name, row in self._listing(oid).items()
                          if name > path and name.startswith(below) and row[0] in FILE_MODES)
            wanted += [other for _, other in rows if other != EMPTY and other not in self._blobs][: _BATCH - 1]
        self._keep(self._objects(list(dict.fromkeys(wanted)), "blob"), blob)

    def _keep(self, blobs: Mapping[str, bytes], last: str) -> None:
        """Contents by their ids, `last` to go last when there are too many."""
        self._blobs.update(blobs)
        self._blobs.move_to_end(last)
        total = sum(map(len, self._blobs.values()))
        while total > _BLOB_BYTES and len(self._blobs) > 1:
            total -= len(self._blobs.popitem(last=False)[1])

    def _complete(self, oid: str, below: str) -> None:
        """Fetches the contents that a folder lacks here, in one request (left to itself, git asks for each alone)."""
        if self._listed[oid, below]:
            return
        out = self._git.run("rev-list", "--objects", "--no-object-names", "--missing=print", "--end-of-options",
                            f"{oid}:{below.rstrip('/')}").decode()
        missing = [line[1:] for line in out.splitlines() if line.startswith("?") and line[1:] != EMPTY]
        if missing:
            self._git.run("-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet", "--no-tags",
                          "--no-write-fetch-head", "--no-recurse-submodules", "--filter=blob:none", "--stdin", "origin",
                          stdin="".join(f"{line}\n" for line in missing).encode(), limit_s=REMOTE_S)
        self._listed[oid, below] = True

    def _objects(self, oids: Sequence[str], kind: str) -> dict[str, bytes]:
        out = self._git.run("cat-file", "--batch", stdin="".join(f"{oid}\n" for oid in oids).encode(), limit_s=REMOTE_S)
        made, at = {}, 0
        for oid in oids:
            end = out.index(b"\n", at)
            words = out[at:end].decode().split(" ")
            if words[1:2] != [kind]:
                raise Missing(f"{oid} is not a {kind} of this repository", "fetch the branch that holds it")
            at = end + 1 + int(words[2])
            made[oid] = out[end + 1 : at]
            at += 1
        return made



def _told(err: bytes) -> list[str]:
    """What the server says about a push, beside the one word that it gives as the reason (`hook declined`)."""
    lines = (line.removeprefix("remote:").strip() for line in err.decode("utf-8", "replace").splitlines()
             if line.startswith("remote:"))
    return [line for line in lines if line][:3]


# Of a repository that bots push to.
_RULES = """[receive]
\tdenyNonFastForwards = true
\tdenyDeletes = true
[uploadpack]
\tallowFilter = true
\tallowAnySHA1InWant = true
"""


def init_bare(process: Process, folder: Path) -> Path:
    """A bare repository to push to, made when absent: it refuses rewinds and deletions, and serves without contents."""
    folder = Path(folder).absolute()
    if (folder / "HEAD").exists():
        return folder
    git = GitCommand(process, folder, Remote.parse(str(folder)))
    with (git.folder / "config").open("a") as config:
        config.write(_RULES)
    return git.folder
