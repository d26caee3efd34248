"""What `ledger publish` shows: a table on the terminal, the page of the workflow's run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.cli import environment
from bot.cli.output import note, table
from bot.decide.report.collected import asked, values
from bot.model.record import Swept
from bot.model.swept import Gathered
from bot.render import Renderer
from bot.results.metrics import Metric

HEADS = ("job", "attempt", "tok/s/GPU", "output tok/s", "TTFT s", "ITL s", "score", "image", "holds")


def summarise(record: Swept, render: Renderer) -> None:
    """Appends both languages to the file that GitHub Actions names; outside a workflow there is none. A page that cannot be
    written is said and stops nothing."""
    place = environment.word("GITHUB_STEP_SUMMARY")
    if place is None:
        return
    try:
        text = "\n\n".join(part.rstrip() for part in render.parts(record))
        with Path(place).open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")
    except (OSError, RuntimeError) as error:
        note(f"GITHUB_STEP_SUMMARY: {(error.strerror if isinstance(error, OSError) else None) or error}")


def draw(format_: str, gathered: Sequence[Gathered], metrics: Mapping[str, Metric]) -> None:
    """One line a job."""
    table(format_, HEADS, [_row(job, metrics) for job in gathered], right=HEADS[1:7])


def _row(job: Gathered, metrics: Mapping[str, Metric]) -> tuple[object, ...]:
    told = values(job.rows)
    score = min(asked(job), key=lambda one: one.value, default=None)
    return (job.planned.name, job.attempt, _told(told, metrics, "tput_per_gpu", "output_tput_per_gpu"),
            _told(told, metrics, "output_tput"), _told(told, metrics, "ttft", "ttft:mean"), _told(told, metrics, "itl", "itl:mean"),
            f"{score.value:.4f}" if score else None, job.proof.state if job.proof else None,
            "yes" if job.good else ", ".join(dict.fromkeys(fault.why for fault in job.faults)))


def _told(told: Mapping[str, float], metrics: Mapping[str, Metric], *names: str) -> str | None:
    found = next((name for name in names if name in told), None)
    return None if found is None else f"{told[found]:.{metrics[found.partition(':')[0]].decimals}f}"
