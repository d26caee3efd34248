"""What a rehearsal shows: a line of progress while five hours pass, then the last report in both languages."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import typer
from msgspec.structs import replace

from bot.ledger import Ledger
from bot.model.action import Say
from bot.model.bump import Bump
from bot.model.ledger import Stored
from bot.rehearse.scenario import Scenario
from bot.rehearse.world import World
from bot.wake import recall


class Progress:
    """One line on stderr that follows the virtual clock; nothing where stderr is no terminal."""

    def __init__(self, story: Scenario, world: World, *, shown: bool) -> None:
        self._story, self._world = story, world
        self._shown = shown and sys.stderr.isatty()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")

    def at(self, event: str) -> None:
        """The virtual moment, and what woke the bot."""
        if self._shown:
            sys.stderr.write(f"\r\x1b[K{self._world.clock.now():%Y-%m-%d %H:%M} UTC  {event}")
            sys.stderr.flush()


def result(story: Scenario, world: World, ledger: Ledger, reports: list[Any]) -> dict[str, Any]:
    """The JSON of CONTRACTS section 2 `rehearse`: the witness's report, with what only the ledger can say."""
    entries = _chain(ledger)
    bump = _last_facts(entries)
    told = world.report()
    memory = bump.memory if bump else None
    ended = memory.ended if memory else None
    reasons = {run.id: run.reason for run in bump.world.runs} if bump else {}
    mine = {run["id"] for run in told["runs"]} if bump is None else set(reasons)
    bot = story.declared.accounts.bot
    slots = {entry.comment: entry.slot for entry in (memory.told if memory else ())}
    comments = [{"id": pull["number"], "kind": "proposal", "body": pull["body"], "edits": _body_edits(entries)}
                for pull in told["pulls"]]
    comments += [{"id": one["id"], "kind": _kind(slots.get(one["id"], "")), "body": one["body"], "edits": one["edits"]}
                 for one in told["comments"] if one["author"] == bot]
    runs = [{**run, "reason": reasons.get(run["id"])} for run in told["runs"] if run["id"] in mine]
    outcome, cause = (ended.outcome.value, ended.cause.value) if ended else (None, None)
    repairs = memory.repairs_used if memory else 0
    expect = story.story.expect
    findings = _troubles(reports) + [f"a run nobody foresaw: {workflow} for {event} {action or ''}".strip()
                                     for workflow, event, action in world.unforeseen]
    expected = (expect.outcome, expect.cause or cause, expect.repairs_used) == (outcome, cause, repairs) and bool(memory and memory.closed)
    return {
        "scenario": story.declared.name, "variant": story.variant, "outcome": outcome, "cause": cause, "repairs_used": repairs,
        "gpu_hours": sum(run["gpu_hours"] for run in runs), "runs": runs, "comments": comments, "findings": findings,
        "pulls": [{key: pull[key] for key in ("number", "title", "branch", "head", "labels", "draft", "open")} for pull in told["pulls"]],
        "expected": {"outcome": expect.outcome, "cause": expect.cause, "repairs_used": expect.repairs_used}, "as_expected": expected,
    }


def show(found: dict[str, Any], format_: str) -> None:
    """JSON whole, or the last report as Markdown, or that report drawn for a terminal with the runs before it."""
    if format_ == "json":
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
        return
    last = found["comments"][-1]["body"] if found["comments"] else ""
    if format_ == "markdown":
        typer.echo(last)
        return
    _draw(found, last)


def _draw(found: dict[str, Any], last: str) -> None:
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.table import Table

    console = Console(highlight=False, soft_wrap=False)
    table = Table(title=f"{found['scenario']} ({found['variant']})", title_justify="left")
    for name, justify in (("run", "right"), ("workflow", "left"), ("reason", "left"), ("conclusion", "left"), ("GPU-h", "right")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    for run in found["runs"]:
        table.add_row(f"{run['id']}/{run['attempt']}", run["workflow"], run["reason"] or "", run["conclusion"] or "",
                      f"{run['gpu_hours']:.1f}")
    console.print(table)
    console.print(Markdown(_visible(last)))
    console.print(f"\noutcome {found['outcome']}, cause {found['cause']}, repairs {found['repairs_used']}, "
                  f"{found['gpu_hours']:.1f} GPU-hours, {len(found['comments'])} comments with "
                  f"{sum(comment['edits'] for comment in found['comments'])} edits")
    for finding in found["findings"]:
        console.print(f"finding: {finding}")
    if not found["as_expected"]:
        expected = found["expected"]
        console.print(f"expected: outcome {expected['outcome']}, cause {expected['cause']}, repairs {expected['repairs_used']}")


def _visible(text: str) -> str:
    """Without the hidden markers, which a terminal would print."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("<!--"))


def _kind(slot: str) -> str:
    """The template's name of a slot: attempt-0 is the initial attempt, attempt-2 a repair, sweep-1 a sweep."""
    name, _, number = slot.partition("-")
    if name == "attempt":
        return "initial" if number == "0" else "repair"
    return name


def _troubles(reports: list[Any]) -> list[str]:
    return list(dict.fromkeys(report.trouble for report in reports if report.trouble))


def _chain(ledger: Ledger) -> tuple[Stored, ...]:
    """The entries of the bump that was rehearsed; none when none was begun."""
    snapshot = ledger.tip()
    names = [*ledger.open_bumps(snapshot), *(name for _, name in ledger.ended_bumps(snapshot))]
    return ledger.entries(snapshot, names[-1]) if names else ()


def _last_facts(entries: Sequence[Stored]) -> Bump | None:
    """The facts of the last claim, with what came of its actions."""
    claims = [stored.entry for stored in entries if stored.entry.kind == "claim" and stored.entry.facts]
    if not claims or claims[-1].facts is None:
        return None
    claim, facts = claims[-1], claims[-1].facts
    results = [result for stored in entries if stored.entry.of == claim.n for result in stored.entry.results]
    return replace(facts, memory=recall.after(facts, claim.actions, results))


def _body_edits(entries: Sequence[Stored]) -> int:
    """How often the pull request's body was written again after it was opened."""
    claims = {stored.entry.n: stored.entry for stored in entries if stored.entry.kind == "claim"}
    return sum(result.ok and isinstance(action, Say) and action.slot == "body"
               for stored in entries if stored.entry.of for result in stored.entry.results
               for action in (claims[stored.entry.of].actions[result.index],))
