"""The history of an upstream, as a clone of it tells."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from secrets import token_hex

from bot.adapters.gitcli import check_path, meaning
from bot.adapters.upstream.clone import Clone, check_name
from bot.adapters.upstream.graph import FORMAT, Graph, parsed
from bot.errors import BadInput, Refusal
from bot.images.tags import Order
from bot.model.upstream import Commit, Comparison
from bot.upstream.patchid import patch_id as id_of

_SHOWN = ("--no-commit-header", f"--format={FORMAT}", "--encoding=UTF-8")
_DIFF = ("-r", "--root", "--no-renames", "--no-ext-diff", "--no-textconv")
_PATCH = ("--patch", "--src-prefix=a/", "--dst-prefix=b/", "--unified=3", "--diff-algorithm=myers")
# Looked into for a patch that somebody applied under another name.
_SEARCHED = 400
# Bytes of ids, 41 each: what git tells of fewer commits it tells at once.
_LONG = 2_000
_ID = re.compile(r"[0-9a-f]{7,40}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")


class CloneHistory:
    """Satisfies the History port. A commit that is not here is fetched once, by its id."""

    def __init__(self, clone: Clone) -> None:
        self.clone = clone
        self._graph: tuple[int, Graph] | None = None
        self._ids: dict[str, str | None] = {}
        self._names: dict[str, str] = {}
        self._touched: dict[str, tuple[str, ...]] = {}

    @property
    def graph(self) -> Graph:
        """Everything that a branch or tag reaches, read again after a fetch."""
        if self._graph is None or self._graph[0] != self.clone.fetched:
            self._graph = (self.clone.fetched, self._read())
        return self._graph[1]

    def order(self, one: str, other: str) -> Order | None:
        """How commit `one` stands to `other` (images' `Ancestry`); None when one is not known, or a short id fits several commits.
        Two branches are incomparable, and so is what a shallow clone does not hold together."""
        try:
            left, right = (self.clone.known(name) if _ID.fullmatch(name) else None for name in (one, other))
        except BadInput:
            return None
        if left is None or right is None:
            return None
        if left == right:
            return "same"
        return "older" if self._behind(left, right) else "newer" if self._behind(right, left) else "incomparable"

    def full(self, name: str) -> str:
        """The one commit that is meant, which a branch or tag reaches."""
        sha = self._found(name)
        if sha not in self.graph:
            raise Refusal(f"{sha[:12]} is reached by no branch or tag of this repository",
                          "it may be a fork's, or its branch was rewritten")
        return sha

    def commit(self, name: str) -> Commit:
        """Its title, date and parents."""
        return self.graph.commits[self.graph.order[self.full(name)]]

    def compare(self, repository: str, base: str, head: str) -> Comparison:
        """As git counts it, for a repository people know as `owner/name`."""
        old, new = self._found(base), self._found(head)
        ahead, behind = self._between(old, new), self._between(new, old)
        merge_base = self._merge_base(old, new)
        told = merge_base is not None or not self.clone.shallow  # where they part is what was cut off
        return Comparison(
            repository=repository, base=base, head=head, merge_base=merge_base, ahead=len(ahead) if told else None,
            behind=len(behind) if told else None, commits=tuple(_plain(one) for one in reversed(ahead)) if merge_base else (),
            url=f"https://github.com/{repository}/compare/{base}...{head}", doubts=("shallow",) if self.clone.shallow else ())

    def behind(self, head: str) -> Sequence[Commit]:
        """A commit and all that it rests on, with their parents, newest first."""
        return list(self.graph.behind(self.full(head)))

    def touched(self, base: str, head: str) -> Mapping[str, Sequence[str]]:
        """Merges changed nothing themselves."""
        shas = [one.sha for one in self._between(self._found(base), self._found(head)) if len(one.parents) < 2]
        self._look([sha for sha in shas if sha not in self._touched])
        return {sha: self._touched.get(sha, ()) for sha in shas}

    def lines(self, base: str, head: str, paths: Collection[str]) -> Mapping[str, Sequence[str]]:
        """One walk over the files' own commits."""
        wanted = {check_path(path) for path in paths}
        shas = [sha for sha, files in self.touched(base, head).items() if wanted.intersection(files)] if wanted else []
        return {sha: [line[1:] for line in diff.split("\n") if line[:1] in "+-" and not line.startswith(("+++ ", "--- ")) and line]
                for sha, diff in self._diffs(shas, sorted(wanted)).items()}

    def last_touched(self, head: str, path: str, *, since: str | None = None, text: str = "") -> Sequence[Commit]:
        """From the folders alone; a text's count is that of the file before and after."""
        scope = [self._found(head), *([f"^{self._found(since)}"] if since else [])]
        found = parsed(self.clone.run("rev-list", *_SHOWN, *scope, "--", check_path(path)))
        if not text:
            return found
        diffs = self._diffs([one.sha for one in found], [path])
        return [one for one in found if _moved(diffs.get(one.sha, ""), text)]

    def tags(self) -> Mapping[str, str]:
        """Every tag and the commit it names."""
        self.clone.freshen()
        out = self.clone.run("for-each-ref", "--format=%(refname:strip=2)%00%(objectname) %(*objectname)", "refs/tags")
        rows = (line.split("\0") for line in out.decode("utf-8", "replace").splitlines())
        return {name: sha for name, ids in rows if (sha := ids.split()[-1]) in self.graph}

    def holds(self, commit: str, head: str) -> bool:
        """Whether `commit` is `head` or lies behind it."""
        old, new = self._found(commit), self._found(head)
        if old in self.graph and new in self.graph:
            return self.graph.holds(old, new)
        return self._behind(old, new)

    def merged(self, pull: int, head: str | None) -> Commit | None:
        """The first that came by this number; a revert or a cherry-pick names it too, and came later."""
        found = [one for one in self.graph.by_pull.get(pull, ()) if head is None or self.holds(one.sha, head)]
        return min(found, key=lambda one: (one.pull != pull, one.date), default=None)

    def saying(self, head: str | None, texts: Sequence[str], *, since: str | None = None) -> Sequence[Commit]:
        """git looks through the messages; a text is a text, and no pattern."""
        words = [f"--grep={clean}" for text in texts if (clean := _CONTROL.sub(" ", text))]
        if not words:
            return []
        scope = list(self.clone.refs()) if head is None else [self._found(head)]
        scope += [f"^{self._found(since)}"] if since else []
        return parsed(self.clone.run("rev-list", "--fixed-strings", *words, *_SHOWN, *scope))

    def patch_ids(self, commits: Sequence[str]) -> Mapping[str, str]:
        """None for merges and for binary files."""
        named = {name: self._found(name) for name in commits}
        fresh = [sha for sha in dict.fromkeys(named.values()) if sha not in self._ids]
        diffs = self._diffs(fresh, ())
        self._ids |= {sha: id_of(diffs[sha].encode("utf-8", "surrogateescape")) if sha in diffs else None for sha in fresh}
        return {name: told for name, sha in named.items() if (told := self._ids[sha])}

    def same_change(self, patch_id: str, head: str, *, since: str | None = None, files: Collection[str] = ()) -> Commit | None:
        """Only commits that touch exactly `files` are looked into, the newest 400 of them."""
        new, wanted = self._found(head), {check_path(path) for path in files}
        if since:
            near = self._between(self._found(since), new)
        else:
            near = parsed(self.clone.run("rev-list", "--max-count=4000", *_SHOWN, new, "--", *sorted(wanted)))
        near = [one for one in near if len(one.parents) < 2]
        if wanted:
            self._look([one.sha for one in near if one.sha not in self._touched])
            near = [one for one in near if wanted == set(self._touched.get(one.sha, ()))]
        ids = self.patch_ids([one.sha for one in near[:_SEARCHED]])
        return next((one for one in near if ids.get(one.sha) == patch_id), None)

    def _read(self) -> Graph:
        return Graph(parsed(self.clone.kept("commits", "rev-list", "--topo-order", *_SHOWN, *self.clone.refs())))

    def _found(self, name: str) -> str:
        """Hundreds of tags are asked about: what is on a branch costs no process of git. A short id that several of those commits
        have, and a tag that looks like one, are git's to tell."""
        if name not in self._names:
            near = self.graph.starting(check_name(name)) if _ID.fullmatch(name) else []
            self._names[name] = near[0] if len(near) == 1 else self.clone.find(name)
        return self._names[name]

    def _behind(self, one: str, other: str) -> bool:
        code, _, err = self.clone.answer("merge-base", "--is-ancestor", one, other)
        if code not in (0, 1):
            raise meaning("merge-base", err)
        return code == 0

    def _between(self, base: str, head: str) -> list[Commit]:
        if base in self.graph and head in self.graph:
            return self.graph.between(base, head)
        return parsed(self.clone.run("rev-list", *_SHOWN, head, f"^{base}"))

    def _merge_base(self, base: str, head: str) -> str | None:
        if base in self.graph and head in self.graph:
            return self.graph.merge_base(base, head)
        return self.clone.answer("merge-base", base, head)[1].decode().split("\n")[0] or None

    def _look(self, shas: Sequence[str]) -> None:
        for sha, told in self._each(shas, "--name-only", "-z", keep="touched"):
            self._touched[sha] = tuple(path for path in told.decode("utf-8", "replace").lstrip("\n").split("\0") if path)

    def _diffs(self, shas: Sequence[str], paths: Sequence[str]) -> dict[str, str]:
        if not shas:
            return {}
        blobs = [blob for _, told in self._each(shas, "--raw", "--abbrev=40", *(("--", *paths) if paths else ()))
                 for blob in re.findall(r"\b(?!0{40})[0-9a-f]{40}\b", told.decode("utf-8", "replace"))]
        self.clone.complete(blobs, shas)
        told = self._each(shas, *_PATCH, *(("--", *paths) if paths else ()))
        return {sha: diff.decode("utf-8", "surrogateescape").lstrip("\n") for sha, diff in told}

    def _each(self, shas: Iterable[str], *words: str, keep: str = "") -> Iterable[tuple[str, bytes]]:
        """What diff-tree says of each commit. A mark that nobody could have written into a file stands before each. `keep` names
        what is kept of it: a commit's id says all that it depends on, and the last sixteen long questions are enough."""
        given, mark = "".join(f"{sha}\n" for sha in shas).encode(), token_hex(16)
        if given:
            def ask() -> bytes:
                argv = ("diff-tree", "--stdin", *_DIFF, f"--format={mark}%H", *words)
                return mark.encode() + self.clone.run(*argv, stdin=given, limit_s=300.0)

            whole = "\0".join((*_DIFF, *words, "")).encode() + given
            name = f"{keep}-{sha256(whole).hexdigest()[0]}"
            out = self.clone.remembered(name, whole, ask) if keep and len(given) > _LONG else ask()
            for part in out[len(mark):].split(out[:len(mark)])[1:]:
                yield part[:40].decode(), part[40:].lstrip(b"\0")


def _plain(one: Commit) -> Commit:
    """Without its parents: a ledger keeps a comparison, and there nobody asks for an order."""
    return Commit(sha=one.sha, title=one.title, date=one.date, pull=one.pull)


def _moved(diff: str, text: str) -> bool:
    added = sum(line.count(text) for line in diff.split("\n") if line.startswith("+") and not line.startswith("+++ "))
    taken = sum(line.count(text) for line in diff.split("\n") if line.startswith("-") and not line.startswith("--- "))
    return added != taken


