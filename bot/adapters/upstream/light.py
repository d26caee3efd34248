"""The history of an upstream as GitHub's API tells it: what it cannot tell in few requests is Missing, never guessed."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from urllib.parse import quote

from bot.adapters.commits import GitHubCommits
from bot.adapters.upstream.api import SHA, check_named, listed, mapping, sequence
from bot.errors import Missing, Unreachable
from bot.model.upstream import Commit
from bot.upstream import titles
from bot.upstream.patchid import patch_id as id_of

# Requests for single commits that one question may cost, and those that all of them may.
EACH, ALL = 60, 400
_ID = re.compile(r"[0-9a-f]{4,64}")
_DIFF = "application/vnd.github.diff"


class GitHubHistory:
    """Satisfies the History port over one repository. Whether a commit that is off the main line belongs to this repository or to a
    fork, GitHub does not tell: here nobody is called an impostor."""

    def __init__(self, commits: GitHubCommits, repository: str) -> None:
        check_named(repository)
        self.api, self.repository, self._commits = commits.api, repository, commits
        self._left, self._known = ALL, dict[str, Commit]()
        self._held: dict[tuple[str, str], bool] = {}
        self._pages: dict[tuple[str, str], list[tuple[Commit, str]]] = {}

    def full(self, name: str) -> str:
        """The one commit that is meant."""
        return self.commit(name).sha

    def commit(self, name: str) -> Commit:
        """Its title, date and parents. GitHub takes a branch for an id that it does not know: that is another commit."""
        check_named(self.repository, name)
        if name not in self._known:
            told = self._asked(f"/commits/{quote(name.removeprefix('refs/'), safe='')}", f"{self.repository} {name}")
            found = listed([told], self.repository)[0][0]
            if _ID.fullmatch(name) and not found.sha.startswith(name):
                raise Missing(f"there is no commit {name} upstream, only a branch or tag of that name", "name the commit itself")
            self._known[name] = found
        return self._known[name]

    def touched(self, base: str, head: str) -> Mapping[str, Sequence[str]]:
        """One request a commit: Missing for more than a few."""
        made = {}
        for one in self._few(base, head):
            files = sequence(self._asked(f"/commits/{one.sha}", f"{self.repository} {one.sha[:12]}").get("files"))
            made[one.sha] = tuple(str(mapping(file).get("filename")) for file in files) if len(one.parents) < 2 else ()
        return made

    def lines(self, base: str, head: str, paths: Collection[str]) -> Mapping[str, Sequence[str]]:
        """Of the files' own diffs, which GitHub leaves out where they are long: Missing then."""
        made: dict[str, list[str]] = {}
        for one in self._few(base, head):
            for file in sequence(self._asked(f"/commits/{one.sha}", f"{self.repository} {one.sha[:12]}").get("files")):
                if mapping(file).get("filename") in paths:
                    made.setdefault(one.sha, []).extend(_changed(mapping(file), self.repository))
        return made

    def last_touched(self, head: str, path: str, *, since: str | None = None, text: str = "") -> Sequence[Commit]:
        """GitHub lists a file's own commits; with a text each of them is read."""
        check_named(self.repository, head)
        where = f"/repos/{self.repository}/commits?sha={quote(head, safe='')}&path={quote(path, safe='')}&per_page=100"
        found = [one for one, _ in listed(self._get(where, f"the history of {path}").json(), path)]
        if since:
            between = {one.sha for one, _ in self._between(since, head)}
            found = [one for one in found if one.sha in between]
        if not text:
            return found
        if len(found) > EACH:
            raise Missing(f"{path} was changed {len(found)} times", "a clone tells which of them")
        return [one for one in found if self._moved(one, path, text)]

    def tags(self) -> Mapping[str, str]:
        """Every tag and the commit it names, a hundred a request."""
        return self._tags

    def holds(self, commit: str, head: str) -> bool:
        """Whether `commit` is `head` or lies behind it."""
        if (commit, head) not in self._held:
            self._spend()
            self._held[commit, head] = commit == head or self._commits.contains(self.repository, commit, head)
        return self._held[commit, head]

    def merged(self, pull: int, head: str | None) -> Commit | None:
        """GitHub knows the commit by which a pull request came; a cherry-pick of it is looked for in titles, after it."""
        try:
            told = self._asked(f"/pulls/{pull}", f"{self.repository}#{pull}")
        except Missing:
            return None
        sha = str(told.get("merge_commit_sha"))
        if not told.get("merged") or not SHA.fullmatch(sha):
            return None
        if head is None or self.holds(sha, head):
            return self.commit(sha)
        return next((one for one in self.saying(head, [f"(#{pull})"], since=sha) if pull in titles.pulls(one.title)), None)

    def saying(self, head: str | None, texts: Sequence[str], *, since: str | None = None) -> Sequence[Commit]:
        """Of the commits that a comparison lists; without a start, and of all branches, nobody can look."""
        if since is None:
            raise Missing("GitHub searches no messages", "a clone does")
        found = self._between(since, head or "HEAD")
        return [one for one, message in reversed(found) if any(text in message for text in texts if text)]

    def patch_ids(self, commits: Sequence[str]) -> Mapping[str, str]:
        """From the diff that GitHub makes of each."""
        if len(commits) > EACH:
            raise Missing(f"{len(commits)} patches are more than GitHub is asked for", "a clone tells")
        made = {}
        for name in commits:
            check_named(self.repository, name)
            told = self._get(f"/repos/{self.repository}/commits/{quote(name, safe='')}", f"{self.repository} {name}", accept=_DIFF)
            if found := id_of(told.body):
                made[name] = found
        return made

    def same_change(self, patch_id: str, head: str, *, since: str | None = None, files: Collection[str] = ()) -> Commit | None:
        """Among few commits after a start, or those of one of the files."""
        if since is not None:
            near = self._few(since, head)
        else:
            near = list(self.last_touched(head, sorted(files)[0]))[:EACH] if files else []
        ids = self.patch_ids([one.sha for one in near])
        return next((one for one in reversed(near) if ids.get(one.sha) == patch_id), None)

    @cached_property
    def _tags(self) -> dict[str, str]:
        made: dict[str, str] = {}
        for page in range(1, 31):
            told = self._get(f"/repos/{self.repository}/tags?per_page=100&page={page}", f"the tags of {self.repository}").json()
            rows = [mapping(row) for row in sequence(told)]
            made |= {str(row.get("name")): sha for row in rows if SHA.fullmatch(sha := str(mapping(row.get("commit")).get("sha")))}
            if len(rows) < 100:
                break
        return made

    def _few(self, base: str, head: str) -> list[Commit]:
        found = [one for one, _ in self._between(base, head)]
        if len(found) > EACH:
            raise Missing(f"{len(found)} commits are more than GitHub is asked for one by one", "a clone tells their files")
        return found

    def _between(self, base: str, head: str) -> list[tuple[Commit, str]]:
        """Oldest first. Missing where GitHub lists fewer than there are."""
        if (base, head) not in self._pages:
            found: list[tuple[Commit, str]] = []
            ahead = 0
            for told in self._commits.pages(self.repository, base, head):
                self._spend()
                found += listed(told.get("commits"), self.repository)
                ahead = max(ahead, count if isinstance(count := told.get("ahead_by"), int) else 0)
            if len(found) < ahead:
                raise Missing(f"GitHub lists {len(found)} of {ahead} commits", "a clone has them all")
            self._pages[base, head] = found
        return self._pages[base, head]

    def _moved(self, one: Commit, path: str, text: str) -> bool:
        for file in sequence(self._asked(f"/commits/{one.sha}", f"{self.repository} {one.sha[:12]}").get("files")):
            if mapping(file).get("filename") == path:
                lines = _changed(mapping(file), self.repository, signs=True)
                return sum(line.count(text) * (1 if line[0] == "+" else -1) for line in lines) != 0
        return False

    def _asked(self, path: str, what: str) -> Mapping[str, object]:
        self._spend()
        return self.api.mapping(f"/repos/{self.repository}{path}", what)

    def _get(self, path: str, what: str, accept: str | None = None):
        self._spend()
        return self.api.get(path, what, accept=accept)

    def _spend(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise Unreachable(f"GitHub was asked {ALL} times about {self.repository}", "a clone tells the rest")


def _changed(file: Mapping[str, object], what: str, *, signs: bool = False) -> list[str]:
    patch = file.get("patch")
    if not isinstance(patch, str):
        if file.get("changes"):
            raise Missing(f"GitHub leaves out the changes of {file.get('filename')}", "a clone has them")
        return []
    return [line if signs else line[1:] for line in patch.split("\n") if line[:1] in ("+", "-")]


