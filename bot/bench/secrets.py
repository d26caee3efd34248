"""What of this machine's environment nobody may read, taken out of what a run keeps.

An image that prints its environment put the model token into server.log: that is uploaded as an artifact, and GitHub masks its own
logs and no artifact. What a program makes of a secret (another spelling, a picture) is not found here.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import msgspec
import re2

from bot.model.bench import Report

LEAST = 8
"""Characters of a value that is a secret by its name, and of a password by itself: shorter ones stand in harmless text too."""
_NAMED = frozenset("TOKEN SECRET SECRETS PASSWORD PASSWD PASS KEY APIKEY AUTH CREDENTIAL CREDENTIALS PAT JWT".split())
_PLACES = ("PATH", "FILE", "DIR", "HOME", "SOCK")
# A proxy's, a registry's, an index's: HTTPS_PROXY=http://user:password@host.
_ADDRESS = re2.compile(r"[A-Za-z][A-Za-z0-9+.-]*://([^\s/@]+)@")


def of(*environments: Mapping[str, str]) -> tuple[str, ...]:
    """The secrets of these environments, longest first: values of variables that are called so, and addresses with a login."""
    found = {secret for env in environments for name, value in env.items() for secret in _of(name, value)}
    return tuple(sorted(found, key=lambda secret: (-len(secret), secret)))


def _of(name: str, value: str) -> Iterator[str]:
    parts = name.upper().split("_")
    if not _NAMED.isdisjoint(parts) and parts[-1] not in _PLACES and len(value.strip()) >= LEAST:
        yield value.strip()
    for match in _ADDRESS.finditer(value):
        login = match.group(1)
        password = login.partition(":")[2]
        yield match.group(0)
        yield from (word for word in (password, unquote(password)) if len(word) >= LEAST)


def masked(text: str, secrets: tuple[str, ...]) -> str:
    """The text with stars in the place of each letter of a secret."""
    for secret in secrets:
        text = text.replace(secret, "*" * len(secret))
    return text


def report(told: Report, secrets: tuple[str, ...]) -> Report:
    """A report of which no text holds a secret: a server's answer, or its last words, may."""
    return msgspec.convert(_deep(msgspec.to_builtins(told), secrets), Report) if secrets else told


def _deep(value: Any, secrets: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        return {name: _deep(inner, secrets) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_deep(inner, secrets) for inner in value]
    return masked(value, secrets) if isinstance(value, str) else value


def file(path: Path, secrets: tuple[str, ...]) -> None:
    """Masks a file where it lies, byte for byte: a full disk, which a copy would need, does not keep a secret in it."""
    if not secrets or not path.stat().st_size:
        return
    with path.open("r+b") as stream, mmap.mmap(stream.fileno(), 0) as held:
        for secret in map(str.encode, secrets):
            at = held.find(secret)
            while at >= 0:
                held[at : at + len(secret)] = b"*" * len(secret)
                at = held.find(secret, at + len(secret))
