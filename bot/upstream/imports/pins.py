"""Which version of a package an engine's own tree pins: in a wheel's metadata, a checkout's pyproject.toml, or its Dockerfile."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence

import re2
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from bot.ports import Tree

_ARGUMENT = re2.compile(r"(?m)^(?:ARG|ENV)\s+([A-Z0-9_]+)[=\s]\"?v?([0-9][0-9A-Za-z.]*)")
_REQUIRED = "Requires-Dist:"


def pinned(tree: Tree, packages: Sequence[str], folder: str = "") -> tuple[str, str] | None:
    """Package and version that the engine is built against, the first of these packages that an exact pin names; None where none
    does. A pin that holds only in an environment or an extra is looked at last."""
    wanted = {canonicalize_name(name): name for name in packages}
    told = list(_requirements(tree, folder))
    for plain in (True, False):
        for requirement in told:
            name = wanted.get(canonicalize_name(requirement.name))
            version = _exact(requirement)
            if name and version and (requirement.marker is None) == plain:
                return name, version
    return _from_dockerfile(tree, packages)


def _requirements(tree: Tree, folder: str) -> Iterator[Requirement]:
    below = f"{folder.strip('/')}/" if folder.strip("/") else ""
    for path in tree.paths():
        if path.endswith(".dist-info/METADATA") and path.count("/") == 1:
            lines = (tree.read(path) or b"").decode("utf-8", "replace").partition("\n\n")[0].splitlines()
            yield from _parsed(line[len(_REQUIRED):] for line in lines if line.startswith(_REQUIRED))
    for path in dict.fromkeys((f"{below}pyproject.toml", "pyproject.toml")):
        try:
            project = tomllib.loads((tree.read(path) or b"").decode("utf-8", "replace")).get("project", {})
        except tomllib.TOMLDecodeError:
            continue
        listed = project.get("dependencies", ()) if isinstance(project, dict) else ()
        yield from _parsed(one for one in listed if isinstance(one, str)) if isinstance(listed, list) else ()
    for path in (f"{below}requirements.txt", "requirements/cuda.txt", "requirements/common.txt"):
        lines = (tree.read(path) or b"").decode("utf-8", "replace").splitlines()
        yield from _parsed(line.partition(" #")[0] for line in lines if line[:1].isalpha())


def _parsed(lines: Iterator[str]) -> Iterator[Requirement]:
    for line in lines:
        try:
            yield Requirement(line.strip())
        except InvalidRequirement:
            continue


def _exact(requirement: Requirement) -> str | None:
    told = [one.version for one in requirement.specifier if one.operator in ("==", "===") and not one.version.endswith("*")]
    return told[0] if told else None


def _from_dockerfile(tree: Tree, packages: Sequence[str]) -> tuple[str, str] | None:
    """`ARG SGL_KERNEL_VERSION=0.3.21`: what an image installs over the requirement."""
    text = (tree.read("docker/Dockerfile") or b"").decode("utf-8", "replace")
    for name, version in _ARGUMENT.findall(text):
        for package in packages:
            if name == f"{package.upper().replace('-', '_')}_VERSION":
                return package, str(Version(version)) if _is_version(version) else version
    return None


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except ValueError:
        return False
    return True
