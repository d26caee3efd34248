"""Why AIPerf ended without results, in one line: its own last words, and what to do."""

from __future__ import annotations

import re
from pathlib import Path

from bot.bench.diary import Word, known
from bot.errors import Refusal
from bot.strict.words import one_line

_TAIL = 262_144
_LONGEST = 400
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_BOX = re.compile(r"^╭─*\s*(?P<title>[^─]*?[Ee]rror[^─]*?)\s*─*╮?\s*$")
_BULLET = re.compile(r"\s*•\s")
_FIELD = re.compile(r"\s*(?P<name>Service|Operation|Error|Reason|Cause):\s?(?P<text>.*)")
_LOGGED = re.compile(r"^[\d:.]+ (?:ERROR|CRITICAL)\s+(?P<text>.*?)(?: \(\w+\.py:\d+\))?$")
_CHOICES = re.compile(r"'[\w.-]+'(?:,? (?:or )?'[\w.-]+'){3,}")
"""A list of all words that would have been right hides the one that was wrong."""
_OTHERS: tuple[tuple[str, str, Word], ...] = (
    ("inference request(s) failed", "look at logs/server.log: bumpbot triage logs", "requests-failed"),
    ("No space left on device", "make room on the disk", "disk-full"),
    ("okenizer", "put the tokenizer into the machine's Hugging Face cache, or let the machine reach Hugging Face",
     "tokenizer-missing"),
    ("only supported with", "correct load.trace of the recipe", "not-asked-right"),
    ("validation error", "what the recipe asks for is nothing that this version of AIPerf knows", "not-asked-right"),
    ("nknown option", "install the version of AIPerf that requirements-bench.lock names", "tool-missing"),
    ("died", "look at logs/aiperf.log: it may have had too little memory", "nothing-measured"),
    ("ataset", "correct load.trace of the recipe, or let the machine reach Hugging Face", "data-unreached"),
)
_OTHER: tuple[str, Word] = ("look at logs/aiperf.log", "nothing-measured")


def refused(log: Path, since: int, code: int) -> Refusal:
    """What AIPerf said last, cut and on one line, and a hint. `since` is where its part of the log begins."""
    said = _said(_tail(log, since))
    how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    hint, word = next(((hint, word) for words, hint, word in _OTHERS if words in said), _OTHER)
    return known(Refusal(f"AIPerf measured nothing and {how}" + (f": {said}" if said else ""), hint), word, "load")


def reason(log: Path, since: int, code: int) -> tuple[str, str]:
    """Reason and hint of `refused`."""
    error = refused(log, since, code)
    return error.reason, error.hint


def progress(log: Path, since: int) -> str:
    """The last thing that AIPerf noted of its phases."""
    told = [line for line in _tail(log, since).splitlines() if " NOTICE " in line]
    return one_line(re.sub(r"^[\d:.]+ NOTICE\s+|\s\(\w+\.py:\d+\)$", "", told[-1]), 160) if told else ""


def _tail(log: Path, since: int) -> str:
    try:
        with log.open("rb") as stream:
            size = stream.seek(0, 2)
            stream.seek(max(since, size - _TAIL))
            return _COLOURS.sub("", stream.read(_TAIL).decode("utf-8", "replace"))
    except OSError:
        return ""


def _said(text: str) -> str:
    """The last box with an error, else the last error that was logged, else the last line."""
    lines = text.splitlines()
    starts = [at for at, line in enumerate(lines) if _BOX.match(line.strip())]
    if starts:
        inside = [line.strip().strip("│").rstrip() for line in lines[starts[-1] + 1:]]
        end = next((at for at, line in enumerate(lines[starts[-1] + 1:]) if line.strip().startswith("╰")), len(inside))
        return one_line(_CHOICES.sub("another word", " ".join(_first(inside[:end]).split())), _LONGEST)
    logged = [found["text"] for line in lines if (found := _LOGGED.match(line))]
    return one_line(logged[-1] if logged else next((line for line in reversed(lines) if line.strip()), ""), _LONGEST)


def _first(lines: list[str]) -> str:
    """Of several services that tell of their end only the first: the others fell with it, and say less."""
    fields: dict[str, str] = {}
    name, bullets = "", 0
    for line in lines:
        bullets += bool(_BULLET.match(line))
        if bullets > 1:
            break
        found = _FIELD.match(_BULLET.sub("", line))
        name = found["name"] if found else name
        fields[name] = f"{fields.get(name, '')} {(found['text'] if found else line).strip()}".strip()
    return fields.get("Reason") or fields.get("") or " ".join(lines)
