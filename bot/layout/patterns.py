"""Whether the patterns and globs of a layout can be run at all: asked when it is loaded, since at work they only find nothing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from bot.layout import globs
from bot.layout.records import Layout

Fault = tuple[tuple[str | int, ...], str, str]
Place = tuple[str | int, ...]
JOB_GROUPS = ("concurrency", "eval", "recipe")
# What the shell's words are split by: a quote that nobody closes is an error there.
_WORDS = re.compile(r"""(?:[^'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")*""", re.DOTALL)


def faults(layout: Layout) -> Iterator[Fault]:
    """Every pattern that does not hold: where, what is wrong, what to do."""
    yield from _jobs(layout.jobs)
    for place, glob in _files(layout):
        if found := globs.astray(glob) or globs.fault(glob):
            yield place, *found
    for place, glob in _texts(layout):
        if found := globs.fault(glob):
            yield place, *found
    for name in ("results", "logs", "evals"):
        for at, glob in enumerate(getattr(layout.artifacts, name)):
            if set("{}") & set(glob):
                yield ("artifacts", name, at), "holds braces, which say nothing in names of artifacts", "write two globs"
    for at, phrase in enumerate(layout.forbidden):
        if not unicodedata.normalize("NFKC", phrase).split():
            yield ("forbidden", at), "stands in every text", "write the words that must not be posted"
    if not _WORDS.fullmatch(layout.generator_command):
        yield ("generator-command",), "has a quote that nobody closes", "close it"


def idle(own: Layout, layout: Layout) -> Iterator[Fault]:
    """What a file says of a generator that nothing runs: `layout` is the file with its preset."""
    if layout.generator != "inferencex":
        for key, said in (("generator-command", own.generator_command), ("generator-files", own.generator_files)):
            if said:
                yield (key,), f"is run by nothing: `generator` is {layout.generator}", "write `generator: inferencex`, or remove it"


def _jobs(pattern: str) -> Iterator[Fault]:
    """The engine is the one that reads the names of jobs."""
    try:
        groups = re.compile(pattern).groupindex
    except (re.error, OverflowError, RecursionError) as error:
        yield ("jobs",), f"is no regular expression: {error}", "write it as Python reads it"
        return
    if "concurrency" not in groups:
        yield ("jobs",), "has no group `concurrency`", "write (?P<concurrency>[0-9]+) where a job's name tells it"
    for name in groups:
        if name not in JOB_GROUPS:
            yield ("jobs",), f"has a group `{name}`, which nothing reads", f"known: {', '.join(JOB_GROUPS)}"


def _files(layout: Layout) -> Iterator[tuple[Place, str]]:
    for at, entry in enumerate(layout.recipes):
        single = isinstance(entry.files, str)
        for number, glob in enumerate(entry.globs):
            yield ("recipes", at, "files", *(() if single else (number,))), glob
        for number, glob in enumerate(entry.linked.files if entry.linked else ()):
            yield ("recipes", at, "linked", "files", number), glob
    for key, listed in (("mentions", layout.mentions), ("generator-files", layout.generator_files)):
        yield from (((key, at), glob) for at, glob in enumerate(listed))
    yield from ((("scope", "files", at), glob) for at, glob in enumerate(layout.scope.files))


def _texts(layout: Layout) -> Iterator[tuple[Place, str]]:
    yield from ((("scope", "keys", at), glob) for at, glob in enumerate(layout.scope.keys))
    yield from ((("policies", name), name) for name in layout.policies)
    for at, entry in enumerate(layout.fixed):
        yield from ((("fixed", at, "where", fact), glob) for fact, glob in entry.where.items())
