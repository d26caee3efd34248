"""Real git repositories for tests about histories: commits written with `git fast-import`, the same ids at every run."""

from __future__ import annotations

import subprocess
from pathlib import Path

ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C",
       "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "c", "GIT_COMMITTER_EMAIL": "c@example.org"}


class Repository:
    """A bare repository that a test writes commit by commit. `commit` tells the new id; files are path -> text (None removes)."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._tips, self._at = folder, dict[str, str](), 1_780_000_000
        self.git("init", "--quiet", "--bare", "--template=", "--initial-branch=main", str(folder), cwd=folder.parent)
        with (folder / "config").open("a") as config:
            config.write("[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n")

    def git(self, *argv: str, cwd: Path | None = None, data: bytes = b"") -> str:
        """What git printed."""
        done = subprocess.run(["git", *argv], cwd=cwd or self.folder, env=ENV, input=data, capture_output=True, check=True)
        return done.stdout.decode()

    def commit(self, message: str, files: dict[str, str | None] | None = None, *, branch: str = "main", onto: str | None = None,
               merge: str | None = None) -> str:
        """One commit on a branch; `onto` begins the branch there."""
        self._at += 3600
        parent = onto or self.tip(branch)
        head = f"commit refs/heads/{branch}\nmark :1\ncommitter c <c@example.org> {self._at} +0000\n"
        lines = [head.encode(), _data(message.encode())]
        lines += [f"from {parent}\n".encode()] if parent else []
        lines += [f"merge {merge}\n".encode()] if merge else []
        for path, text in (files or {}).items():
            lines += [f"D {path}\n".encode()] if text is None else [f"M 100644 inline {path}\n".encode(), _data(text.encode())]
        told = self.git("fast-import", "--quiet", "--force", "--done", data=b"".join([*lines, b"get-mark :1\ndone\n"]))
        self._tips[branch] = told.strip()
        return self._tips[branch]

    def tip(self, branch: str) -> str | None:
        """Where a branch stands."""
        return self._tips.get(branch)

    def reset(self, branch: str, commit: str) -> None:
        """Rewrites a branch."""
        self.git("update-ref", f"refs/heads/{branch}", commit)
        self._tips[branch] = commit

    def tag(self, name: str, commit: str, *, annotated: bool = False) -> None:
        """A tag, light or with a message."""
        self.git("tag", *(["-a", "-m", name] if annotated else []), name, commit)


def _data(text: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(text), text)
