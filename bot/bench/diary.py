"""`logs/bench.log`: the stages of a measurement, a line each, and last the one line that tells how it ended.

The wake and `bumpbot triage` read it (knowledge/signatures.yaml). A server that lowered its limits was once reported as "fits no
known signature": that stood in bench.json and on the terminal alone. The end is a word of `Word`, then values that are single
harmless words: what a server says stands in its own log, and a sentence of its own here would be read as one of ours.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Literal, TypeVar

from bot.bench import kept
from bot.bench.host import Place
from bot.bench.watch import ServerDied
from bot.errors import BadInput, BumpbotError, Missing, Refusal, Unreachable
from bot.model.bench import Gate

Word = Literal[
    "gates", "lowered-limit", "other-version", "other-digest", "other-model", "other-gpus", "few-gpus", "port-taken",
    "disk-full", "no-answer", "server-ended", "time-limit", "launcher-denied", "launcher-silent", "launch-failed",
    "registry-limit", "registry-silent", "image-platform", "image-denied", "image-unknown", "gpu-runtime", "mount-missing",
    "slurm-busy", "tokenizer-missing", "requests-failed", "data-denied", "data-unreached", "tool-missing", "nothing-measured",
    "results-broken", "not-asked-right", "file-failed", "not-stopped", "stopped", "internal-error"]
ARROW = "->"
_VALUE = re.compile(r"[A-Za-z0-9_.:/+-]{1,120}|->")
_FULL = (errno.ENOSPC, errno.EDQUOT)
_KINDS: tuple[tuple[type[BumpbotError], Word], ...] = (
    (ServerDied, "server-ended"), (Unreachable, "time-limit"), (Missing, "tool-missing"), (BadInput, "not-asked-right"))
"""What an error is that its raiser did not call by a word; the first that fits."""
_STAGES: dict[str, Word] = {
    "launch": "launch-failed", "ready": "other-model", "load": "nothing-measured", "eval": "nothing-measured"}
"""What a plain refusal of these stages is: of `ready` there is one."""
_SYMPTOMS: tuple[Word, ...] = ("gates", "no-answer", "requests-failed", "nothing-measured")
_E = TypeVar("_E", bound=BumpbotError)


class Diary:
    """The lines so far. The file is replaced with each, so that who is killed leaves a whole one."""

    def __init__(self, place: Place, now: Callable[[], datetime]) -> None:
        self._place, self._now = place, now
        self._lines: tuple[str, ...] = ()

    def stage(self, name: str) -> None:
        """A stage begins."""
        self._lines = (*self._lines, self._line(f"stage: {_named(name)}"))
        kept.log(self._place, self._lines)

    def end(self, told: str) -> None:
        """How it ended (`told`). In the file there is one end: another one stands in the place of the first, with its own time."""
        if self._lines and self._lines[-1].endswith(f" bumpbot bench: {told}"):
            return
        lines = [line for line in self._lines if " bumpbot bench: stage: " in line]
        self._lines = (*lines, self._line(told))
        kept.log(self._place, self._lines)

    def _line(self, text: str) -> str:
        return f"{self._now().isoformat(timespec='seconds')} bumpbot bench: {text}"


def known(error: _E, word: Word, *values: object) -> _E:
    """The error, by the word that its end is told with."""
    error.known = words(word, *values)  # type: ignore[attr-defined]
    return error


def why(error: BumpbotError | OSError, stage: str, *, over: bool = False) -> str:
    """The word of an error that ended a stage, and its values; without values of its own, the stage. `over`: the server has ended,
    which clients see as requests that fail."""
    of = error if isinstance(error, OSError) else error.__context__  # a refusal of what the disk said
    if isinstance(of, OSError) and (of is error or of.errno in _FULL):
        return words("disk-full" if of.errno in _FULL else "file-failed", _named(stage))
    found: str | None = getattr(error, "known", None)
    kind = next((word for kind, word in _KINDS if isinstance(error, kind)), _STAGES.get(stage, "not-asked-right"))
    told = found or words(kind, _named(stage))
    return words("server-ended", _named(stage)) if over and told.partition(" ")[0] in _SYMPTOMS else told


def gates(found: Iterable[Gate]) -> str:
    """The gates that do not hold, under the word of what is nearest to the cause: no answer, an error, an answer that does not
    hold. Empty where all do."""
    failed = [gate for gate in found if gate.passed is False]
    faults = {gate.fault for gate in failed}
    word: Word = "no-answer" if "hung" in faults else "requests-failed" if "error" in faults else "gates"
    return words(word, *dict.fromkeys(gate.name for gate in failed)) if failed else ""


def gated(error: _E, found: Iterable[Gate]) -> _E:
    """The error of gates that do not hold."""
    error.known = gates(found)  # type: ignore[attr-defined]
    return error


def lowered(refusal: Refusal, name: str, asked: object, effective: object) -> Refusal:
    """The refusal of a server that lowered a limit."""
    return known(refusal, "lowered-limit", name, asked, ARROW, effective)


def words(word: Word, *values: object) -> str:
    """The word and its values in one line."""
    return " ".join([word, *map(value, values)])


def value(told: object) -> str:
    """A value as one word; `?` for one that holds more than harmless letters."""
    text = str(told)
    return text if _VALUE.fullmatch(text) else "?"


def _named(stage: str) -> str:
    """A stage's name as one word."""
    return stage.replace(" ", "-")
