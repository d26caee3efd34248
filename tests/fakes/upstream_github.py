"""GitHub's API about one repository, answered from a real git repository: compare, commits, trees, blobs, tags, pulls."""

from __future__ import annotations

import base64
import re
import subprocess
from typing import Any
from urllib.parse import unquote

import httpx

from bot.adapters.commits import GitHubCommits
from bot.adapters.http import make_client
from tests.adapters.fake_registry import FakeClock
from tests.fakes.upstream_git import Repository


class GitHub:
    """`asked` are the paths of all requests; `pulls` says by which commit a pull request came; `answers` overrides a path."""

    def __init__(self, repository: Repository, name: str = "o/engine") -> None:
        self.git, self.name = repository.git, name
        self.asked: list[str] = []
        self.pulls: dict[int, str] = {}
        self.answers: dict[str, httpx.Response] = {}

    def commits(self, **options: Any) -> GitHubCommits:
        """The adapter that asks it."""
        return GitHubCommits(FakeClock(), base_url="https://api.forge.example", client=make_client(transport=httpx.MockTransport(self)),
                             **options)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = unquote(request.url.raw_path.decode().partition("?")[0]).removeprefix(f"/repos/{self.name}")
        self.asked.append(path)
        if path in self.answers:
            return self.answers[path]
        try:
            return self._route(path, dict(request.url.params), request.headers.get("accept", ""))
        except (subprocess.CalledProcessError, KeyError):
            return httpx.Response(404, json={"message": "Not Found"})

    def _route(self, path: str, query: dict[str, str], accept: str) -> httpx.Response:
        page, size = int(query.get("page", 1)), int(query.get("per_page", 30))
        part = slice((page - 1) * size, page * size)
        if found := re.fullmatch(r"/compare/(.+)\.\.\.(.+)", path):
            return self._compare(self._id(found[1]), self._id(found[2]), part)
        if found := re.fullmatch(r"/commits/(.+)", path):
            return self._commit(self._id(found[1]), accept)
        if path == "/commits":
            scope = ["--", query["path"]] if "path" in query else []
            shas = self.git("rev-list", self._id(query.get("sha", "main")), *scope).split()
            return httpx.Response(200, json=[self._json(sha) for sha in shas[part]])
        if found := re.fullmatch(r"/git/trees/(\w+)", path):
            rows = (row.split() for row in self.git("ls-tree", "-r", "-l", found[1]).splitlines())
            return httpx.Response(200, json={"truncated": False, "tree": [
                {"mode": mode, "type": kind, "sha": sha, "size": int(size), "path": name} for mode, kind, sha, size, name in rows]})
        if found := re.fullmatch(r"/git/blobs/(\w+)", path):
            return httpx.Response(200, json={"encoding": "base64", "content": base64.encodebytes(
                self.git("cat-file", "blob", found[1]).encode()).decode()})
        if path == "/tags":
            names = self.git("tag").split()
            return httpx.Response(200, json=[{"name": name, "commit": {"sha": self._id(name)}} for name in names[part]])
        if found := re.fullmatch(r"/pulls/(\d+)", path):
            return httpx.Response(200, json={"merged": True, "merge_commit_sha": self.pulls[int(found[1])]})
        raise KeyError(path)

    def _compare(self, base: str, head: str, part: slice) -> httpx.Response:
        ahead = self.git("rev-list", "--reverse", "--topo-order", head, f"^{base}").split()
        behind = self.git("rev-list", base, f"^{head}").split()
        return httpx.Response(200, json={
            "ahead_by": len(ahead), "behind_by": len(behind), "merge_base_commit": {"sha": self.git("merge-base", base, head).strip()},
            "commits": [self._json(sha) for sha in ahead[part]], "html_url": "https://forge.example/x"})

    def _commit(self, sha: str, accept: str) -> httpx.Response:
        if accept.endswith(".diff"):
            return httpx.Response(200, text=self.git("diff-tree", "-p", "--root", "--no-commit-id", sha))
        files = []
        for path in self.git("diff-tree", "-r", "--root", "--name-only", "--no-commit-id", sha).split():
            diff = self.git("diff-tree", "-p", "--root", "--no-commit-id", sha, "--", path)
            files.append({"filename": path, "changes": 1, "patch": diff[diff.index("@@"):]})
        return httpx.Response(200, json={**self._json(sha), "files": files})

    def _json(self, sha: str) -> dict[str, Any]:
        parents, date, message = self.git("show", "-s", "--format=%P%x00%cd%x00%B", "--date=format:%Y-%m-%dT%H:%M:%SZ", sha).split("\0")
        return {"sha": sha, "commit": {"message": message.strip(), "committer": {"date": date}},
                "parents": [{"sha": parent} for parent in parents.split()]}

    def _id(self, name: str) -> str:
        return self.git("rev-parse", "--verify", f"{name}^{{commit}}").strip()
