"""What lies between two images of an engine: how their commits stand to each other and to the main line, and what between them
concerns the recipe. What keeps an answer from being whole is said in it, never raised."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from msgspec.structs import replace

from bot.errors import BadInput, BumpbotError, Missing, Refusal
from bot.model.upstream import Comparison, Doubt, Touch
from bot.model.uses import Uses
from bot.ports import Commits, History
from bot.upstream.engines import Engine
from bot.upstream.touching import SHOWN, ranked

MAIN = "main"
_SHORT = re.compile(r"[0-9a-f]{4,39}")
# With one of these nobody can say how the two commits stand to each other.
_BLIND: frozenset[Doubt] = frozenset({"gone", "ambiguous", "unreachable"})
Stand = Literal["older", "newer", "same", "incomparable"]


def compared(commits: Commits, history: History | None, repository: str, old: str | None, new: str | None,
             uses: Uses | None = None, engine: Engine | None = None) -> tuple[Comparison, ...]:
    """Each image's commit against the main line, then the old one against the new one, which alone tells what is `touching`.
    A pair of which one commit is not known is left out; `engine` says in which files options are defined."""
    pairs = [(MAIN, old), (MAIN, new), (old, new)]
    return tuple(_compared(commits, history, repository, base, head, old, uses if base != MAIN else None, engine)
                 for base, head in pairs if base and head)


def stands(found: Comparison) -> Stand | None:
    """How the head of a comparison stands to its base; None where its doubts leave that open."""
    if _BLIND & set(found.doubts):
        return None
    if found.merge_base is None or (found.ahead and found.behind):
        return "incomparable"
    return "newer" if found.ahead else "older" if found.behind else "same"


def _compared(commits: Commits, history: History | None, repository: str, base: str, head: str, old: str | None,
              uses: Uses | None, engine: Engine | None) -> Comparison:
    doubts: list[Doubt] = [doubt for name in (base, head) for doubt in _named(history, name, "old" if name == old else "new")]
    blind = Comparison(repository=repository, base=base, head=head, merge_base=None, ahead=None, behind=None, doubts=_once(doubts))
    if _BLIND & set(doubts):
        return blind
    try:
        found = commits.compare(repository, base, head)
    except BumpbotError as error:
        return replace(blind, doubts=_once([*doubts, _unanswered(error, (base, head))]))
    if found.merge_base is None and not doubts and "shallow" not in found.doubts:
        doubts.append("rewritten")
    if found.merge_base is not None and found.ahead is not None and len(found.commits) < found.ahead:
        doubts.append("truncated")
    touching = _touching(history, found, uses, engine) if uses else ()
    return replace(found, touching=touching[:SHOWN], concerning=len(touching), doubts=_once([*found.doubts, *doubts]))


def _unanswered(error: BumpbotError, names: tuple[str, ...]) -> Doubt:
    """A short id that is not unique is bad input; so is an answer that nobody can read."""
    short = any(_SHORT.fullmatch(name) for name in names)
    return "gone" if isinstance(error, Missing) else "ambiguous" if isinstance(error, BadInput) and short else "unreachable"


def _named(history: History | None, name: str, role: str) -> tuple[Doubt, ...]:
    """What is in doubt of one commit. One that no branch reaches any more was ours once, where it is what the recipe runs: its
    branch was rewritten; of a new image it is somebody else's."""
    if history is None or name == MAIN:
        return ()
    try:
        history.full(name)
    except Refusal:
        return ("rewritten" if role == "old" else "impostor",)
    except Missing:
        return ("gone",)
    except BadInput:
        return ("ambiguous",)
    except BumpbotError:
        return ()
    return ()


def _touching(history: History | None, found: Comparison, uses: Uses, engine: Engine | None) -> tuple[Touch, ...]:
    """By files where the history knows them, else by titles alone."""
    files: Mapping[str, Sequence[str]] = {}
    lines: Mapping[str, Sequence[str]] | None = None
    if history is not None and found.commits:
        try:
            files = history.touched(found.base, found.head)
            lines = history.lines(found.base, found.head, _defining(files, engine)) if engine else None
        except BumpbotError:
            pass
    return ranked(found.commits, files, uses, lines)


def _defining(files: Mapping[str, Sequence[str]], engine: Engine) -> Collection[str]:
    """The changed files in which options and variables are defined, as the repository spells them."""
    wanted = {path for path in (*engine.parsers, *engine.environment)}
    wanted |= {f"{engine.folder}/{path}" for path in wanted if engine.folder}
    return sorted({path for paths in files.values() for path in paths} & wanted)


def _once(doubts: Sequence[Doubt]) -> tuple[Doubt, ...]:
    return tuple(dict.fromkeys(doubts))
