"""How a rehearsal looks: a line of progress while five hours pass, then its runs, the last report, and how it ended."""

from __future__ import annotations

import sys
from datetime import datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any

import typer

from bot.cli.output import as_json, note, plain, report, table
from bot.rehearse.scenario import Scenario
from bot.rehearse.world import World

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

RUN_HEADS = ("run", "workflow", "reason", "conclusion", "GPU-hours")


class Progress:
    """One line on stderr that follows the virtual clock; nothing where stderr is no terminal."""

    def __init__(self, story: Scenario, world: World, *, shown: bool) -> None:
        self._world, self._bar, self._task = world, _bar() if shown and sys.stderr.isatty() else None, None
        start = story.declared.clock.start
        self._start, self._whole = start, (story.story.until - start).total_seconds()

    def __enter__(self) -> Progress:
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task("", total=self._whole)
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def at(self, event: str) -> None:
        """The virtual moment, and what woke the bot or what it does."""
        if self._bar is not None and self._task is not None:
            now = self._world.clock.now()
            passed, told = (now - self._start).total_seconds(), plain(f"{now:%Y-%m-%d %H:%M} UTC  {event}")
            self._bar.update(self._task, completed=passed, description=told)

    def say(self, line: str) -> None:
        """A line that stays, above the one that moves."""
        if self._bar is not None:
            self._bar.console.print(plain(line))
        else:
            note(line)


def _bar() -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar
    from rich.table import Column

    text = TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True))
    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    return Bar(BarColumn(bar_width=24), text, console=console, transient=True, expand=True)


def show(found: dict[str, Any], format_: str, seconds: float) -> None:
    """JSON whole, or the last report as Markdown, or that report drawn with the runs before it and the end after it."""
    if format_ == "json":
        as_json(found)
    elif format_ == "markdown":
        typer.echo(_last(found))
    else:
        _draw(found, seconds)
    if not found["as_expected"] and format_ != "table":
        note(f"bumpbot: it ended otherwise than the scenario expects: {_end(found)}; expected: {_end(found['expected'])}")


def _draw(found: dict[str, Any], seconds: float) -> None:
    rows = [(f"{run['id']}/{run['attempt']}", run["workflow"], run["reason"], run["conclusion"] or "not over",
             f"{run['gpu_hours']:.1f}") for run in found["runs"]]
    title = f"{found['scenario']}, {found['variant'].replace('-', ' ')}"
    if rows:
        table("table", RUN_HEADS, rows, right=("run", "GPU-hours"), title=title)
    else:
        typer.echo(f"{title}: no run was started")
    typer.echo()
    report(_last(found) or "The bot wrote nothing.")
    typer.echo()
    for finding in found["findings"]:
        said = f"{finding['check']}: {plain(finding['evidence'])}; {plain(finding['next']['en'])}"
        typer.echo(f"{finding['action']}: {said} ({finding['who']})")
    for trouble in found["troubles"]:
        typer.echo(f"trouble: {plain(trouble)}")
    edits = sum(comment["edits"] for comment in found["comments"])
    passed = datetime.fromisoformat(found["ended"]) - datetime.fromisoformat(found["began"])
    how = "as expected" if found["as_expected"] else f"the scenario expects {_end(found['expected'])}, and the bump closed"
    typer.echo(f"{_end(found)} ({how}); {found['gpu_hours']:.1f} GPU-hours; {len(found['comments'])} comments, {edits} edits; "
               f"{_lasted(passed)} of virtual time in {seconds:.1f} s")


def _last(found: dict[str, Any]) -> str:
    """The last thing the bot wrote, all parts of it where it was too long for one comment."""
    parts: list[str] = []
    for comment in reversed(found["comments"]):
        if comment["kind"] != found["comments"][-1]["kind"]:
            break
        parts.insert(0, comment["body"])
    return "\n\n".join(parts)


def _end(found: dict[str, Any]) -> str:
    cause = f", cause {found['cause']}" if found["cause"] else ""
    return f"outcome {found['outcome'] or 'none'}{cause}, repairs {found['repairs_used']}"


def _lasted(span: timedelta) -> str:
    minutes = round(span.total_seconds() / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"
