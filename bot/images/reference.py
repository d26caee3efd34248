"""The text that names an image, taken apart and put together again without losing a byte.

Grammar: the distribution project's reference (domain, path, tag, digest) and Enroot's `REGISTRY#PATH`. Launchers look
the raw string up as a container alias and as a squash file's name, so `nvcr.io#a/b:1` and `nvcr.io/a/b:1` are the same
image and different strings: `text` survives, `canonical` compares.
"""

from __future__ import annotations

import re
from typing import NoReturn

from bot.errors import BadInput
from bot.model.image import Reference

HUB = "docker.io"
# Docker Hub answers under several names; credentials and rate limits are one and the same behind all of them.
HUB_NAMES = frozenset({"docker.io", "index.docker.io", "registry-1.docker.io", "registry.hub.docker.com"})
DIGEST_HEX = {"sha256": 64, "sha512": 128}
MAX_TEXT = 1024
MAX_NAME = 255

_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_HOST = re.compile(rf"(?P<name>{_LABEL}(?:\.{_LABEL})*|\[[0-9a-fA-F:]+\])(?::(?P<port>[0-9]{{1,5}}))?")
_COMPONENT = re.compile(r"[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def parse(text: str) -> Reference:
    """The parts of a reference in Docker or Enroot form; BadInput names the part that is wrong and what stood there.

    No registry means Docker Hub, and there a name without a slash lies under `library/`. A first component is a
    registry when it holds a dot, a colon or an upper-case letter, or is `localhost`. An absent tag or digest is None.
    """
    _check_text(text)
    rest, digest = _split_digest(text)
    if "@" in rest:
        _refuse(text, "a user or a second digest before `@`", "write the image alone; log in to the registry")
    if rest.count("#") > 1:
        _refuse(text, "more than one `#`", "Enroot's form is REGISTRY#PATH:TAG")
    if "#" in rest:
        host, path = rest.split("#")
        path, tag = _split_tag(text, path)
        return _build(text, host, path, tag, digest, style="enroot")
    path, tag = _split_tag(text, rest)
    first, slash, remainder = path.partition("/")
    if slash and _names_registry(first):
        return _build(text, first, remainder, tag, digest, style="docker")
    return _build(text, HUB, path, tag, digest, style="docker")


def canonical(reference: Reference) -> str:
    """What two references share exactly when they name the same image: registry, repository, tag (`latest` when
    neither tag nor digest stands there), digest. Not for a launcher: those want `text`."""
    tag = reference.tag or (None if reference.digest else "latest")
    return reference.name + (f":{tag}" if tag else "") + (f"@{reference.digest}" if reference.digest else "")


def same(one: Reference, other: Reference) -> bool:
    """Whether two references name the same image, however they are spelt."""
    return canonical(one) == canonical(other)


def with_digest(reference: Reference, digest: str | None) -> Reference:
    """The same image pinned to `digest`, or unpinned with None; style and spelling of the name stay."""
    bare = reference.text.partition("@")[0]
    return parse(f"{bare}@{digest}" if digest else bare)


def with_style(reference: Reference, other: Reference) -> Reference:
    """`reference` spelt as `other` is (`#` or `/`, and the hub's name left out where `other` leaves it out)."""
    tail = (f":{reference.tag}" if reference.tag else "") + (f"@{reference.digest}" if reference.digest else "")
    if other.style == "enroot":
        return parse(f"{reference.registry}#{reference.repository}{tail}")
    spelt_out = other.text.partition("/")[0].lower() in HUB_NAMES
    if reference.registry == HUB and not spelt_out:
        return parse(reference.repository.removeprefix("library/") + tail)
    return parse(f"{reference.name}{tail}")


def valid_tag(tag: str) -> bool:
    """Whether a text has a tag's grammar; a registry's list may hold anything."""
    return _TAG.fullmatch(tag) is not None


def valid_digest(digest: str) -> bool:
    """Whether a text is a whole digest of an algorithm that can be checked here."""
    algorithm, _, value = digest.partition(":")
    return DIGEST_HEX.get(algorithm) == len(value) and not set(value) - set("0123456789abcdef")


def _check_text(text: str) -> None:
    if not isinstance(text, str) or not text:
        raise BadInput("an image reference is empty", "write registry/repository:tag")
    if len(text) > MAX_TEXT:
        raise BadInput(f"an image reference of {len(text)} characters", f"at most {MAX_TEXT}")
    odd = next((char for char in text if not 33 <= ord(char) <= 126), None)
    if odd is not None:
        _refuse(text, f"the character U+{ord(odd):04X}", "references hold printable ASCII without spaces")
    if scheme := _SCHEME.match(text):
        _refuse(text, f"a scheme (`{scheme[0]}`)", "write the reference alone")


def _split_digest(text: str) -> tuple[str, str | None]:
    rest, at, digest = text.rpartition("@")
    if not at:
        return text, None
    algorithm, colon, value = digest.partition(":")
    if "/" in digest:
        _refuse(text, "a user before `@`", "write the image alone; log in to the registry")
    if not colon:
        _refuse(text, "`@` without a digest", "a digest is sha256: and 64 hexadecimal digits; names hold no user")
    length = DIGEST_HEX.get(algorithm)
    if length is None:
        _refuse(text, f"the digest algorithm `{algorithm}`", f"known are {', '.join(sorted(DIGEST_HEX))}")
    if not valid_digest(digest):
        _refuse(text, f"a {algorithm} digest that is not {length} lower-case hex digits", "copy the whole digest")
    return rest, digest


def _split_tag(text: str, path: str) -> tuple[str, str | None]:
    head, slash, last = path.rpartition("/")
    name, colon, tag = last.partition(":")
    if not colon:
        return path, None
    if not tag:
        _refuse(text, "a colon without a tag", "write a tag after the colon or remove it")
    if len(tag) > 128:
        _refuse(text, f"a tag of {len(tag)} characters", "at most 128")
    if not valid_tag(tag):
        _refuse(text, f"the tag `{tag}`", "a tag begins with a letter, digit or _, and holds these, dots and dashes")
    return head + slash + name, tag


def _names_registry(first: str) -> bool:
    return "." in first or ":" in first or first == "localhost" or first != first.lower()


def _build(text: str, host: str, path: str, tag: str | None, digest: str | None, *, style: str) -> Reference:
    registry = _registry(text, host)
    if not path:
        _refuse(text, "no repository after the registry", "write registry/repository:tag")
    for part in path.split("/"):
        if not part:
            _refuse(text, "an empty part of the repository", "one slash between parts, none at the ends")
        if not _COMPONENT.fullmatch(part):
            upper = " (repositories are lower-case)" if part != part.lower() else ""
            _refuse(text, f"the repository part `{part}`{upper}", "letters and digits joined by a dot, _, __ or dashes")
    repository = f"library/{path}" if registry == HUB and "/" not in path else path
    if len(registry) + 1 + len(repository) > MAX_NAME:
        _refuse(text, f"a name longer than {MAX_NAME} characters", "shorten it")
    return Reference(text=text, registry=registry, repository=repository, tag=tag, digest=digest, style=style)


def _registry(text: str, host: str) -> str:
    found = _HOST.fullmatch(host)
    if found is None:
        _refuse(text, f"the registry `{host}`", "a registry is a host name, with a port if it needs one")
    if found["port"] is not None and not 1 <= int(found["port"]) <= 65535:
        _refuse(text, f"the port {found['port']}", "ports go from 1 to 65535")
    lower = host.lower()
    return HUB if lower in HUB_NAMES else lower


def _refuse(text: str, what: str, hint: str) -> NoReturn:
    shown = text if len(text) <= 160 else text[:157] + "..."
    raise BadInput(f"image reference {shown!r}: {what}", hint)
