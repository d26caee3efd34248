"""What AIPerf prints: lines of a log, and boxes at its ends."""

from __future__ import annotations

import textwrap
import time
from pathlib import Path

_log: list[Path] = []
_SOURCE = {"NOTICE": "runner.py:660", "ERROR": "aiohttp_client.py:300", "WARNING": "records_manager.py:946"}


def begin(log: Path) -> None:
    _log.append(log)
    log.touch()


def say(level: str, text: str) -> None:
    now = time.time()
    clock = time.strftime("%H:%M:%S", time.localtime(now)) + f".{int(now * 1000) % 1000:03d}"
    print(f"{clock} {level:<8} {text} ({_SOURCE.get(level, '_single_run.py:81')})", flush=True)
    for log in _log:
        with log.open("a", encoding="utf-8") as stream:
            stream.write(f"{time.strftime('%Y-%m-%d', time.localtime(now))} {clock} - aiperf - {level} - {text}\n")


def box(title: str, text: str) -> None:
    """One box with a title, wrapped at 78 columns."""
    lines = [line for part in text.split("\n") for line in textwrap.wrap(part, 76, subsequent_indent=" " * _indent(part)) or [""]]
    print(f"╭─ {title} {'─' * (76 - len(title))}╮")
    for line in lines:
        print(f"│ {line:<77}│")
    print(f"╰{'─' * 78}╯", flush=True)


def exit_errors(service: str, operation: str, kind: str, why: str) -> None:
    """The box at the end of a run that came to nothing; the controller tells of its own end too."""
    told = f"• Service: {service}\n   Operation: {operation}\n   Error: {kind}\n   Reason: {why}"
    if service != "system_controller":
        told += "\n\n• Service: system_controller\n   Operation: Starting\n   Error: HookError\n   Reason: HookError(\"stopped\")"
    print()
    box("AIPerf System Exit Errors", told)


def _indent(part: str) -> int:
    return 11 if part.startswith("   Reason:") else 0
