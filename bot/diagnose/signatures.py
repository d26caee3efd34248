"""The known log signatures: data with their own examples (`knowledge/signatures.yaml`), matched in linear time.

Patterns are RE2, because a real signature took Python's backtracking engine 304 s on one 105 kB line (SECURITY.md rule 12).
The order of the file is the order of matching: the particular stands before the general.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal, get_args

import re2
from msgspec import Struct, field

from bot import strict
from bot.errors import BadInput
from bot.model.text import Text

Class = Literal[
    "engine-regression",
    "moved-module",
    "flag-removed",
    "feature-missing",
    "arch-unsupported",
    "oom",
    "hang",
    "tool-parser",
    "eval-gate",
    "request-errors",
    "image-missing",
    "model-not-staged",
    "disk-full",
    "node-unhealthy",
    "package-fetch",
    "capacity",
    "runner-retired",
    "credential",
    "baseline-gap",
    "changelog-conflict",
    "shared-ci-bug",
    "cancelled-by-concurrency",
]
Scope = Literal["repair", "infrastructure", "operator", "stop", "ask", "defer", "sync", "follow", "gate", "symptom", "noise"]
Layer = Literal["server", "path", "gate", "collect", "client", "end"]
Role = Literal["frontend", "worker", "benchmark", "eval", "slurm", "infra", "other"]
CLASSES: tuple[str, ...] = get_args(Class)
CAPTURE = re.compile(r"[A-Za-z0-9_.:/+-]{1,120}")
ELLIPSIS = "…"
NEVER = "[^\\x00-\\x{10FFFF}]"
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_SLOT = re.compile(r"\{([A-Za-z_]\w*)\}")
_OPTIONS = re2.Options()
_OPTIONS.max_mem = 64 << 20
_OPTIONS.log_errors = False


class Signature(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One known line of a log and what it means.

    `layer` says how far downstream the line stands (a client's symptom loses to a server's error); `spans` lets the
    pattern read a whole traceback instead of its last line; `warning` announces a later failure without being one;
    `after_shutdown` makes it noise only once the shutdown has begun; `roles` name the logs where it is expected:
    elsewhere it is believed less. `excerpt` is our own wording with {captures}, the only form fit for the forge.
    """

    id: str
    pattern: str
    class_: Class | None = field(name="class", default=None)
    scope: Scope
    layer: Layer = "server"
    example: str
    cause: Text
    excerpt: str
    repair: str | None = None
    warning: bool = False
    spans: bool = False
    after_shutdown: bool = False
    roles: tuple[Role, ...] = ()

    def search(self, line: str, block: str = "") -> Any:
        """The match over a line, or over the traceback block that ends with it when the signature `spans`; None without."""
        return _compiled(self.pattern).search(block if self.spans and block else line)

    def fill(self, match: Any) -> str:
        """The excerpt with its captures; what holds more than harmless characters is left out, the log has it."""
        found = match.groupdict()

        def value(slot: re.Match[str]) -> str:
            text = found.get(slot[1]) or ""
            return text if CAPTURE.fullmatch(text) else ELLIPSIS

        return _SLOT.sub(value, self.excerpt)


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    signatures: tuple[Signature, ...]


@functools.lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Any:
    return re2.compile(pattern, options=_OPTIONS)


def load(text: str, file: str) -> tuple[Signature, ...]:
    """The signatures of a YAML text, in matching order; BadInput names file, line and key of what does not hold."""
    loaded = strict.load(_File, text, file=file).signatures
    seen: set[str] = set()
    for index, signature in enumerate(loaded):
        problem = _problem(signature, seen)
        if problem:
            key, reason, hint = problem
            lines = strict.parse(text, file=file)[1]
            line = lines.get(("signatures", index, key), lines.get(("signatures", index)))
            raise BadInput(reason, hint, file=file, line=line, key=f"signatures.{signature.id}.{key}")
        seen.add(signature.id)
    return loaded


def _problem(signature: Signature, seen: set[str]) -> tuple[str, str, str] | None:
    if not _ID.fullmatch(signature.id):
        return "id", "an id is lower-case words joined by hyphens", "rename it"
    if signature.id in seen:
        return "id", "this id stands twice", "rename one"
    try:
        compiled = _compiled(signature.pattern)
    except re2.error as error:
        return "pattern", f"not an RE2 pattern: {_words(error)}", "RE2 has no look-around and no back-references"
    unknown = set(_SLOT.findall(signature.excerpt)) - set(compiled.groupindex)
    if unknown:
        return (
            "excerpt",
            f"names no group of the pattern: {', '.join(sorted(unknown))}",
            "name a group or drop the braces",
        )
    if not compiled.search(signature.example):
        return "example", "the pattern does not match its own example", "mend one of them"
    if compiled.search(""):
        return "pattern", "the pattern matches an empty line", "make it say more"
    return None


def _words(error: Exception) -> str:
    first = error.args[0] if error.args else error
    return first.decode("utf-8", "replace") if isinstance(first, bytes) else str(first)


def match(signatures: Iterable[Signature], line: str, block: str = "") -> tuple[Signature, Any] | None:
    """The first signature that fits a line (with the traceback it ends, if any), and its match."""
    for signature in signatures:
        found = signature.search(line, block)
        if found:
            return signature, found
    return None


class Matcher:
    """All signatures asked at once: one pass of one automaton says which lines are worth a closer look."""

    def __init__(self, signatures: Sequence[Signature], also: str = "") -> None:
        """`also` is one more pattern for `touches`: what else makes a line worth reading."""
        self.signatures = tuple(signatures)
        patterns = [_unnamed(item.pattern) for item in self.signatures]
        self._any = _union(patterns)
        self._which = _set(tuple(patterns))
        self._spanning = _union([_unnamed(item.pattern) for item in self.signatures if item.spans])
        self._worth = _union([*patterns, *([also] if also else [])])

    def __call__(self, line: str, block: str = "") -> tuple[Signature, Any] | None:
        known = self._any.search(line)
        if not known and not (block and self._spanning.search(block)):
            return None
        hits = frozenset(self._which.Match(line) or ()) if known else frozenset()
        if known and not hits:  # it gave up for want of memory, which reads as nothing: each is asked by itself
            return match(self.signatures, line, block)
        near = (signature for at, signature in enumerate(self.signatures) if at in hits or (block and signature.spans))
        return match(near, line, block)

    def touches(self, line: str) -> bool:
        """Whether a line says anything at all; cheap, for the millions of lines that do not."""
        return bool(self._worth.search(line))


@functools.lru_cache(maxsize=16)
def _set(patterns: tuple[str, ...]) -> Any:
    made = re2.Set.SearchSet(_OPTIONS)
    for pattern in patterns or (NEVER,):
        made.Add(pattern)
    made.Compile()
    return made


def _union(patterns: Sequence[str]) -> Any:
    return _compiled("|".join(f"(?:{pattern})" for pattern in patterns) or NEVER)


def _unnamed(pattern: str) -> str:
    return re.sub(r"\(\?P<\w+>", "(?:", pattern)
