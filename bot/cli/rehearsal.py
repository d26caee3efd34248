"""What a rehearsal came to, as the JSON of CONTRACTS section 2: the witness's report, and what only the ledger can say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from bot.cli.planned import findings
from bot.ledger import Ledger
from bot.model.action import Say
from bot.model.bump import Bump, Memory
from bot.model.finding import PlanFinding
from bot.model.ledger import Stored
from bot.rehearse.scenario import Scenario
from bot.rehearse.world import World
from bot.wake import recall

_PULL = ("number", "title", "branch", "head", "labels", "draft", "open")


def result(story: Scenario, world: World, ledger: Ledger, troubles: Sequence[str]) -> dict[str, Any]:
    """Outcome, runs and comments of the rehearsed bump; `as_expected` says whether the scenario foresaw that end."""
    *before, entries = _chains(ledger) or [()]
    bump = _last_facts(entries)
    earlier = [_end(_last_facts(chain)) for chain in before]
    told, memory, expect = world.report(), bump.memory if bump else Memory(), story.story.expect
    ended = memory.ended
    outcome, cause = (ended.outcome.value, ended.cause.value) if ended else (None, None)
    runs = _runs(told["runs"], bump)
    # A push of somebody else starts runs that no story needs to hold; what the bot asked for beyond it speaks against it.
    surprises = [f"a run nobody foresaw: {workflow} for {event} {action or ''}".strip()
                 for workflow, event, action in world.unforeseen if event != "push"]
    wanted = expect.outcome, expect.cause or cause, expect.repairs_used, list(expect.before)
    got = outcome, cause, memory.repairs_used, [one["outcome"] for one in earlier]
    return {
        "scenario": story.declared.name, "variant": story.variant, "outcome": outcome, "cause": cause,
        "repairs_used": memory.repairs_used, "gpu_hours": sum(run["gpu_hours"] for run in runs), "runs": runs,
        "comments": _comments(told, memory, entries, story.declared.accounts.bot),
        "findings": msgspec.to_builtins(found(bump)), "troubles": [*dict.fromkeys(troubles), *surprises],
        "pulls": [{key: pull[key] for key in _PULL} for pull in told["pulls"]],
        "began": story.declared.clock.start.isoformat(), "ended": world.clock.now().isoformat(), "closed": memory.closed,
        "expected": {"outcome": expect.outcome, "cause": expect.cause, "repairs_used": expect.repairs_used},
        "earlier": earlier,
        "as_expected": wanted == got and memory.closed,
    }


def found(bump: Bump | None) -> tuple[PlanFinding, ...]:
    """What the plan found, as `bumpbot plan` tells it, and what files said later where that ended the bump; what went wrong in the
    playing is no finding and stands beside them."""
    if bump is None:
        return ()
    first, ended = findings(bump.subject.plan), bump.memory.ended
    return (*first, *(one for one in (ended.found if ended else ()) if one not in first))


def _end(bump: Bump | None) -> dict[str, Any]:
    """How an earlier bump of the story ended, and what its plan found."""
    ended = bump.memory.ended if bump else None
    return {"bump": bump.id if bump else None, "outcome": ended.outcome.value if ended else None,
            "cause": ended.cause.value if ended else None, "findings": msgspec.to_builtins(found(bump))}


def _runs(told: Sequence[dict[str, Any]], bump: Bump | None) -> list[dict[str, Any]]:
    """The bump's own runs with their reasons; without a bump, every run that was started for the bot."""
    reasons = {run.id: run.reason for run in bump.world.runs} if bump else {}
    return [{**run, "reason": reasons.get(run["id"])} for run in told if bump is None or run["id"] in reasons]


def _comments(told: dict[str, Any], memory: Memory, entries: Sequence[Stored], bot: str) -> list[dict[str, Any]]:
    """What the bot wrote: the proposal's body first, then its comments; `kind` is the template's name."""
    slots = {entry.comment: entry.slot for entry in memory.told}
    bodies = [{"id": pull["number"], "kind": "proposal", "body": pull["body"], "edits": _body_edits(entries)}
              for pull in told["pulls"]]
    return bodies + [{"id": one["id"], "kind": _kind(slots.get(one["id"], "")), "body": one["body"], "edits": one["edits"]}
                     for one in told["comments"] if one["author"] == bot]


def _kind(slot: str) -> str:
    """The template's name of a slot: attempt-0 is the initial attempt, attempt-2 a repair, sweep-1 a sweep."""
    name, _, number = slot.partition("-")
    if name == "attempt":
        return "initial" if number == "0" else "repair"
    return name


def _chains(ledger: Ledger) -> list[tuple[Stored, ...]]:
    """The entries of each bump that was begun, the one that was begun last at the end."""
    snapshot = ledger.tip()
    names = [*ledger.open_bumps(snapshot), *(name for _, name in ledger.ended_bumps(snapshot))]
    return sorted((ledger.entries(snapshot, name) for name in names), key=lambda entries: entries[0].entry.at)


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


def written(told: dict[str, Any], folder: Path) -> None:
    """The result and every text that the bot wrote, as files: `result.json`, `reports/<n>-<kind>.md`."""
    place = folder / "reports"
    place.mkdir(exist_ok=True)
    (folder / "result.json").write_text(f"{json.dumps(told, indent=1, ensure_ascii=False)}\n", encoding="utf-8")
    for number, comment in enumerate(told["comments"], 1):
        (place / f"{number:02d}-{comment['kind']}.md").write_text(comment["body"], encoding="utf-8")
