"""The git command line under our rules: no configuration of the machine, no hooks, one protocol, the token unseen."""

from __future__ import annotations

import base64
import ipaddress
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from bot.errors import BadInput, BumpbotError, Missing, Refusal, Unreachable
from bot.ports import Process

LOCAL_S = 120.0
REMOTE_S = 300.0
_OID = re.compile(r"[0-9a-f]{40}")
# Narrower than git-check-ref-format: no leading `-` (an option), `+` (a force) or `.`, no `:` (a refspec), no `@{`.
_BRANCH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/+#@=,-]{0,199}")
_BRANCH_NEVER = re.compile(r"\.\.|//|/\.|\.lock(?:/|$)|[/.]$")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_HALF = re.compile(r"[\ud800-\udfff]")
_SCP = re.compile(r"[A-Za-z0-9._-]+@[A-Za-z0-9.-]+:(?!:)\S+")
_SECRET = re.compile(r"(?<=://)[^/@\s]+@|\?\S*")

# What git says (LC_ALL=C) and whose matter that is. First match wins; anything else is `Unreachable`.
_MEANINGS: tuple[tuple[str, type[BumpbotError], str], ...] = (
    (r"terminal prompts disabled|returned error: 40[13]|Authentication failed|Permission (?:to .* )?denied",
     Refusal, "the token or the account lacks access to this repository; the operator must give it"),
    (r"dubious ownership", Refusal, "the repository belongs to another user; the operator must change its owner"),
    (r"returned error: 30\d|redirect", Missing, "the repository has moved; correct its address"),
    (r"returned error: 404|not appear to be a git repository|[Rr]epository (?:'.*' )?(?:not found|does not exist)",
     Missing, "correct the address of the repository"),
    (r"not our ref|[Nn]ot a (?:valid object name|tree object|valid commit)|bad (?:object|revision)", Missing,
     "fetch the branch that holds it"),
)


class Remote(Struct, frozen=True, kw_only=True):
    """Where a repository is, and the only protocol git may use to go there."""

    url: str
    protocol: str

    @classmethod
    def parse(cls, text: str) -> Remote:
        """https and ssh anywhere, http on loopback, a folder or file:// of the operator's; else BadInput."""
        hint = "write https://host/owner/name, or the folder of a bare repository"
        if not text or text.startswith("-") or _CONTROL.search(text) or "::" in text.partition("//")[0]:
            raise BadInput(f"not the address of a git repository: {text!r}", hint)
        if _SCP.fullmatch(text):
            return cls(url=text, protocol="ssh")
        if "://" not in text:
            return cls(url=os.path.abspath(text), protocol="file")
        parts = urlsplit(text)
        if parts.scheme not in ("https", "http", "file", "ssh"):
            raise BadInput(f"git may not speak {parts.scheme!r}", hint)
        if parts.scheme in ("https", "http") and "@" in parts.netloc:
            raise BadInput("credentials stand in the address of a repository", "give the token by the environment")
        if parts.scheme == "http" and not _loopback(parts.hostname or ""):
            raise BadInput("plain http is only for loopback", "write https://")
        return cls(url=text, protocol=parts.scheme)


def _loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_oid(oid: str) -> str:
    """The id as it is; BadInput unless all 40 digits are there (a short or symbolic name may mean another commit)."""
    if not _OID.fullmatch(oid):
        raise BadInput(f"not a full commit id: {_plain(oid)!r}", "write all 40 hexadecimal digits")
    return oid


def check_branch(branch: str) -> str:
    """The name as it is; BadInput for one that git could read as an option, a refspec or another ref."""
    if not _BRANCH.fullmatch(branch) or _BRANCH_NEVER.search(branch):
        raise BadInput(f"not a branch name: {_plain(branch)!r}", "use letters, digits, and . _ - / between them")
    return branch


def check_path(path: str) -> str:
    """A path of a file inside a tree; BadInput for one that a checkout could be led astray by."""
    steps = path.split("/")
    astray = any(step in ("", ".", "..") or step.lower() == ".git" for step in steps)
    if astray or _CONTROL.search(path) or _HALF.search(path):
        raise BadInput(f"not a path inside a repository: {_plain(path)!r}", "use a/b/c, without . and ..")
    return path


class GitCommand:
    """Runs git on one private bare repository (`folder`, made when absent) beside one remote."""

    def __init__(self, process: Process, folder: Path, remote: Remote, *, token: str | None = None) -> None:
        self.process, self.folder, self.remote = process, folder, remote
        self._env = _environment(folder, remote, token)
        if not (folder / "HEAD").exists():
            folder.mkdir(parents=True, exist_ok=True)
            self.run("init", "--bare", "--quiet", "--template=", "--initial-branch=main", str(folder))

    def run(self, *argv: str, stdin: bytes = b"", env: Mapping[str, str] | None = None,
            limit_s: float = LOCAL_S) -> bytes:
        """What git printed; its failure is told as one of our errors."""
        code, out, err = self.answer(*argv, stdin=stdin, env=env, limit_s=limit_s)
        if code:
            raise meaning(next(word for word in argv if word[0] != "-" and "=" not in word), err)
        return out

    def answer(self, *argv: str, stdin: bytes = b"", env: Mapping[str, str] | None = None,
               limit_s: float = LOCAL_S) -> tuple[int, bytes, bytes]:
        """Exit code, stdout and stderr, for callers to whom a failure is an answer."""
        return self.process.run(["git", *argv], cwd=self.folder, env={**self._env, **(env or {})}, limit_s=limit_s,
                                stdin=stdin)


def meaning(command: str, err: bytes) -> BumpbotError:
    """git's complaint as the error of whoever must act."""
    text = err.decode("utf-8", "replace")
    told = [line for line in text.splitlines() if line.startswith(("fatal:", "error:", "remote:"))] or [text.strip()]
    reason = f"git {command}: {_plain(told[0])}"
    for pattern, kind, hint in _MEANINGS:
        if re.search(pattern, text):
            return kind(reason, hint)
    return Unreachable(reason, "nothing was changed; a later wake tries again")


def _plain(text: str) -> str:
    return _CONTROL.sub(" ", _SECRET.sub("", text))[:200]


def _environment(folder: Path, remote: Remote, token: str | None) -> dict[str, str]:
    config: list[tuple[str, str]] = [
        ("remote.origin.url", remote.url),
        ("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"),  # where a push notes what the branch is now
        ("core.hooksPath", os.devnull),
        ("core.fsmonitor", "false"),
        ("core.attributesFile", os.devnull),
        ("credential.helper", ""),
        ("http.followRedirects", "false"),  # curl would carry our header to wherever the server points
        ("submodule.recurse", "false"),
        ("fetch.recurseSubmodules", "false"),
        ("gc.auto", "0"),
        ("maintenance.auto", "false"),
        ("pack.useSparse", "false"),  # the sparse walk overlooks that a moved file is known, and fetches it
        *_header(remote, token),
    ]
    env = {
        "GIT_DIR": str(folder),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": remote.protocol,
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
        "LC_ALL": "C",
        "GIT_CONFIG_COUNT": str(len(config)),
    }
    for index, (key, value) in enumerate(config):
        env[f"GIT_CONFIG_KEY_{index}"], env[f"GIT_CONFIG_VALUE_{index}"] = key, value
    return env


def _header(remote: Remote, token: str | None) -> Sequence[tuple[str, str]]:
    """The token as a header for the remote's own host alone; nothing of it in argv or in a file."""
    if not token or remote.protocol not in ("https", "http"):
        return ()
    if _CONTROL.search(token):
        raise BadInput("the token holds a line break or another control character", "copy it again")
    parts = urlsplit(remote.url)
    basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    return ((f"http.{parts.scheme}://{parts.netloc}/.extraheader", f"Authorization: Basic {basic}"),)
