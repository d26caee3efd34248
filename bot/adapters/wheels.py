"""Wheels of a package index by name and version, fetched by the pip of this interpreter with the configuration that it has.

No index is named here: whoever runs bumpbot has told pip where to look, with which certificates and proxies.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from secrets import token_hex
from time import time

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from bot.adapters.ziptree import WheelTree
from bot.errors import BadInput, Missing, Unreachable
from bot.ports import Process, Tree

DOWNLOAD_S, ASK_S = 900.0, 120.0
# So long a list of versions is good: pip takes a second to ask for it, and every plan of a family asks the same.
FRESH_S = 3600.0
MAX_BYTES = 4_000_000_000
"""Of the wheels that are kept: an engine's takes half a gigabyte."""
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]{0,98}")
# What pip may know of the machine; none of our own tokens.
_PASSED = re.compile(r"PIP_|XDG_|SSL_|[A-Z]+_CA_BUNDLE$|(?:HTTPS?|NO|ALL)_PROXY$|(?:HOME|NETRC|LD_LIBRARY_PATH|TMPDIR|LANG)$|LC_",
                     re.I)
_NONE = re.compile(r"No matching distribution|Could not find a version|from versions: none", re.I)
_AVAILABLE = re.compile(r"(?m)^Available versions: (.*)$")
_PYTHONS = ("3.12", "3.11", "3.10", "3.13")
_MACHINES = ("x86_64", "aarch64")
_GLIBC = range(39, 11, -1)


class Wheels:
    """`folder` is where they are kept, None: nowhere beyond this process. `env` is this process's environment."""

    def __init__(self, process: Process, folder: Path | None, env: Mapping[str, str]) -> None:
        self._process = process
        self._temporary = tempfile.TemporaryDirectory(prefix="bumpbot-wheels-") if folder is None else None
        self._folder = Path(self._temporary.name) if self._temporary else folder / "wheels" if folder else Path()
        self._env = {name: value for name, value in env.items() if _PASSED.match(name)}
        self._open: dict[Path, WheelTree] = {}

    def wheel(self, package: str, version: str) -> Tree:
        """The files of a published wheel: one that this interpreter could install, else one for another. `Missing` where there
        is none of that version, `Unreachable` where the index does not answer."""
        name = _checked(package, version)
        found = self._kept(name, version)
        if found is None:
            found = self._fetched(name, version)
            self._trim(found)
        os.utime(found)
        if found not in self._open:
            self._open[found] = WheelTree(found)
        return self._open[found]

    def versions(self, package: str) -> Sequence[str]:
        """The published versions, newest first, those before a release included."""
        kept = self._folder / f"{_checked(package)}.versions"
        if kept.is_file() and time() - kept.stat().st_mtime < FRESH_S:
            return kept.read_text().split()
        answers = [self._pip(["index", "versions", "--pre", *targets, "--", package], ASK_S) for targets in ([], _target("3.12"))]
        told = {word.strip() for _, out, _ in answers for line in _AVAILABLE.findall(out) for word in line.split(",")}
        if not told:
            raise self._failure(package, answers[0][2])
        found = sorted((word for word in told if _version(word)), key=Version, reverse=True)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = kept.with_name(f"{kept.name}.{token_hex(8)}")
        fresh.write_text("\n".join(found))
        fresh.replace(kept)
        return found

    def _kept(self, name: str, version: str) -> Path | None:
        if not self._folder.is_dir():
            return None
        wanted = canonicalize_name(name), _version(version)
        return next((file for file in sorted(self._folder.glob("*.whl")) if _named(file) == wanted), None)

    def _fetched(self, name: str, version: str) -> Path:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        told = ""
        targets: list[list[str]] = [[], *(_target(python) for python in _PYTHONS)]
        for target in targets:
            # Fetched beside and moved in whole: another process never sees half a wheel.
            with tempfile.TemporaryDirectory(prefix=".part-", dir=self._folder) as part:
                argv = ["download", "--no-deps", "--only-binary", ":all:", *target, "--dest", part, "--", f"{name}=={version}"]
                code, _, err = self._pip(argv, DOWNLOAD_S)
                files = [file for file in Path(part).glob("*.whl") if _named(file) == (canonicalize_name(name), _version(version))]
                if code == 0 and files:
                    return files[0].replace(self._folder / files[0].name)
            told = told or err
            if not _NONE.search(err):
                raise self._failure(f"{name} {version}", err)
        raise self._failure(f"{name} {version}", told)

    def _pip(self, argv: Sequence[str], limit_s: float) -> tuple[int, str, str]:
        """pip's answer. It is told to ask nobody and to keep no cache of its own."""
        # Isolated: a pip.py where we happen to stand is not run.
        whole = [sys.executable, "-I", "-m", "pip", "--no-input", "--disable-pip-version-check", "--no-cache-dir", "--no-color",
                 *argv]
        code, out, err = self._process.run(whole, env=self._env, limit_s=limit_s)
        return code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")

    def _failure(self, what: str, err: str) -> Missing | Unreachable:
        if "No module named pip" in err:
            return Missing("this Python has no pip to fetch wheels with", "install pip beside bumpbot")
        if _NONE.search(err) and not re.search(r"Connection|Retrying|timed out|resolve|SSL", err):
            return Missing(f"{what}: the index has no such wheel", "correct the name or the version")
        lines = [line for line in err.splitlines() if line.startswith("ERROR:")]
        said = re.sub(r"(?<=://)\S+", "...", lines[0])[:200] if lines else "no answer"
        return Unreachable(f"{what}: pip could not fetch it ({said})",
                           "look at pip's index and the network; a later wake tries again")

    def _trim(self, keep: Path) -> None:
        """Removes what was of no use for the longest time. A file that another process just removed is gone all the same."""
        files = []
        for file in self._folder.glob("*.whl"):
            try:
                files.append((file.stat().st_mtime, file.stat().st_size, file))
            except OSError:
                continue
        total = sum(size for _, size, _ in files)
        for _, size, file in sorted(files):
            if total > MAX_BYTES and file != keep:
                if file in self._open:
                    self._open.pop(file).close()
                file.unlink(missing_ok=True)
                total -= size


def _target(python: str) -> list[str]:
    """Another interpreter on the machines that engines are published for."""
    digits = python.replace(".", "")
    names = [f"manylinux_2_{minor}_{machine}" for machine in _MACHINES for minor in _GLIBC]
    names += [f"{name}_{machine}" for machine in _MACHINES for name in ("manylinux2014", "manylinux2010", "linux")]
    platforms = [word for name in (*names, "any") for word in ("--platform", name)]
    abis = [word for abi in (f"cp{digits}", "abi3", "none") for word in ("--abi", abi)]
    return ["--only-binary", ":all:", "--python-version", python, "--implementation", "cp", *abis, *platforms]


def _checked(package: str, version: str = "0") -> str:
    if not _NAME.fullmatch(package):
        raise BadInput(f"not the name of a package: {package[:80]!r}", "use letters, digits, and . _ - between them")
    if not _VERSION.fullmatch(version):
        raise BadInput(f"not a version: {version[:80]!r}", "write it as the index does")
    return package


def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None


def _named(file: Path) -> tuple[str, Version] | None:
    try:
        name, version, _, _ = parse_wheel_filename(file.name)
    except (InvalidWheelFilename, InvalidVersion):
        return None
    return canonicalize_name(name), version
