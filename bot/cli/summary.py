"""What a wake did, on the page of its workflow run: in the modes that hold back, what it would have done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from bot.cli import environment
from bot.cli.output import note, plain
from bot.decide.report.planned import found_lines
from bot.model.lines import SummaryLine
from bot.model.outcome import Outcome
from bot.model.record import Summary
from bot.wake.context import Context
from bot.wake.loop import Report


def write(context: Context, reports: Sequence[Report], refusal: str | None = None) -> None:
    """Appends both languages to the file that GitHub Actions names; outside a workflow there is none. A page that cannot be
    written is said and stops nothing: what was done is done."""
    place = environment.word("GITHUB_STEP_SUMMARY")
    if place is None:
        return
    record = Summary(mode=context.mode(), lines=tuple(_line(report) for report in reports), refusal=refusal and plain(refusal))
    try:
        text = "\n\n".join(part.rstrip() for part in context.render.parts(record))
        with Path(place).open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")
    except (OSError, RuntimeError) as error:  # an error quotes others: the renderer refuses some of what they may write
        note(f"GITHUB_STEP_SUMMARY: {(error.strerror if isinstance(error, OSError) else None) or error}")


def _line(report: Report) -> SummaryLine:
    return SummaryLine(
        bump=report.bump, steps=report.steps, done=dict(Counter(report.done)), withheld=dict(Counter(report.withheld)),
        trouble=report.trouble and plain(report.trouble), ended=Outcome(report.ended) if report.ended else None,
        found=found_lines(report.found),
    )
