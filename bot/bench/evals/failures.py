"""Why lm-eval ended early, from what it printed, in one line that says what to do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from bot.bench.diary import Word, known
from bot.bench.probes.reply import told
from bot.errors import BadInput, BumpbotError, Missing, Refusal, Unreachable

LAST = 1_000_000
"""Bytes of the log that are read for the reason; a server that fails fills it with the same line."""
_LINE = 2_000
# A failed request is told in both of lm-eval's ways of asking; of one that never got an answer only the first tells.
_AGAIN = re.compile(rb"Exception:[^\n]{0,100000}retrying\.|API request failed with error message")
_ERROR = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Timeout|Refused|Exit|Enabled)(?:: |:?$)")
_STRAY = "Task exception was never retrieved"
"""Behind it stand the other requests that were given up when the first failed for good."""
_OWN, _LOG = "its whole log is logs/lm_eval.log", "look at the server's log"
_UNREACHED = r"Couldn't reach|OfflineMode|LocalEntryNotFound|MaxRetryError|NameResolution|ConnectError"
_BROKEN_OFF = (r"ClientConnectorError|Cannot connect|Connection refused|ConnectionError|ServerDisconnected|ClientOSError"
               r"|ClientPayloadError")

Known = tuple[str, type[BumpbotError], str, str, Word]
_KNOWN: Sequence[Known] = (
    ("Tasks not found", BadInput, "lm_eval knows no task {task}",
     "`lm_eval ls tasks` lists them; `tasks` in the machine file adds a folder", "not-asked-right"),
    ("Gated|401 Client|403 Client", Refusal, "the data of {task} is not given to this machine",
     "its owner must be asked; HF_TOKEN is passed on", "data-denied"),
    (_UNREACHED, Unreachable, "the data of {task} cannot be reached from this machine",
     "fetch it into the machine's Hugging Face cache first", "data-unreached"),
    ("marked as unsafe", Refusal, "{task} runs code that the model writes, which is never done on a runner",
     "gate on another task", "not-asked-right"),
    (r"interval \[0,k-1\]", BadInput, "{task} has fewer questions than a moment ago", "its data changed in between; run again",
     "not-asked-right"),
    ("Loglikelihood is not supported", Refusal, "{task} is scored by log-likelihoods, which a chat server does not give",
     "gate on a task that is answered in words", "not-asked-right"),
    ("ModuleNotFoundError|No module named|ImportError", Missing, "lm_eval lacks a part of itself: {said}",
     "pip install 'lm-eval[api]'", "tool-missing"),
    (r"(?:ClientResponseError: |HTTPError: )(?P<status>\d{3})", Refusal,
     "the server answered with status {status} to a question of {task}, and again each time it was asked", _LOG, "requests-failed"),
    ("TimeoutError|ReadTimeout|Timeout", Refusal, "the server did not answer a question of {task} in time", _LOG,
     "requests-failed"),
    (_BROKEN_OFF, Refusal, "the server broke off while it was asked {task}", _LOG, "requests-failed"),
    ("No space left", Refusal, "the disk is full", "make room", "disk-full"),
)


def tail(log: Path, before: int) -> tuple[str, ...]:
    """The lines that were added to a log after its first `before` bytes, the last of them where they are many."""
    with log.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(before, size - LAST))
        return lines(file.read())


def lines(data: bytes) -> tuple[str, ...]:
    """Whole lines, cut; a progress bar writes over itself."""
    text = data[-LAST:].decode("utf-8", "replace")
    return tuple(line[:_LINE].rstrip() for line in re.split(r"[\r\n]+", text) if line.strip())


def retried(log: Path, before: int) -> int:
    """Requests that failed and were made again."""
    with log.open("rb") as file:
        file.seek(before)
        return sum(len(_AGAIN.findall(line)) for line in file)


def why(said: Sequence[str], code: int, task: str) -> BumpbotError:
    """The error to raise for what lm-eval printed before it ended with `code`."""
    last = _last(said)
    for pattern, kind, words, hint, word in _KNOWN:
        if found := re.search(pattern, last):
            error = kind(words.format(task=task, said=told(last, 120, quote=False), **found.groupdict()), hint)
            return known(error, word, task)
    ended = f"by signal {-code}" if code < 0 else f"with code {code}" if code else "without a result"
    return Refusal(f"lm_eval ended {ended}: {told(last, 200, quote=False) or 'it said nothing'}", _OWN)


def _last(said: Sequence[str]) -> str:
    """The exception that ended it, else its last words."""
    stray = next((at for at, line in enumerate(said) if line.startswith(_STRAY)), len(said))
    ended = [line for line in said[:stray] if _ERROR.match(line)]
    return ended[-1] if ended else said[-1] if said else ""
