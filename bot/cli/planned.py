"""What `bumpbot plan` prints: the proposal with its diff, and what only a terminal may show: titles, evidence in full."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import typer

from bot import budget
from bot.baseline import findings as of_baseline
from bot.cli.files import matrix_of
from bot.cli.output import as_json, entries, note, report
from bot.decide.report.planned import TOUCHING, check_lines, compared
from bot.layout import Layout
from bot.model.bump import Bump, Plan
from bot.model.checklines import CheckLine
from bot.model.finding import Checked, PlanFinding
from bot.model.upstream import Comparison, Touch
from bot.preflight import findings as of_checks
from bot.preflight import said


def show(format_: str, recipe: str, layout: Layout, facts: Bump, text: str) -> None:
    """Prints a plan, whole; then exit 1 where a check stops it, in words on stderr."""
    plan = facts.subject.plan
    if format_ == "json":
        as_json(told(recipe, layout, facts, text))
    elif format_ == "markdown":
        typer.echo(f"{text}\n```diff\n{plan.diff}```")
    else:
        report(text)
        _terminal(facts)
        typer.echo(f"\n{plan.diff}", nl=False)
    stops = [one for one in findings(plan) if one.action == "stop"]
    for one in stops:
        note(f"stopped by {one.check}: {said(one).en.rstrip('.')}; next ({one.who}): {one.next.en}")
    if stops:
        raise typer.Exit(1)


def told(recipe: str, layout: Layout, facts: Bump, text: str) -> dict[str, Any]:
    """The JSON of CONTRACTS section 2 `plan`. `control_arm` is the run of the old image beside the sweep, None where no policy
    asks for one; `result` of a check is its gravest finding's action, `holds`, or `unknown`."""
    subject, arm = facts.subject, budget.control_points(facts)
    plan = subject.plan
    return {
        "recipe": recipe, "old": subject.candidate.old.reference.text, "new": subject.candidate.text,
        "sites": [{"file": site.file, "line": site.line, "path": site.path} for site in plan.sites],
        "diff": plan.diff, "matrix": matrix_of(layout, plan.scope), "proposal": text,
        "findings": msgspec.to_builtins(findings(plan)), "checks": [_check(one) for one in plan.checks],
        "reasons": list(subject.candidate.reasons), "hints": msgspec.to_builtins(subject.candidate.hints),
        "missing_baseline": plan.missing_baseline, "comparisons": msgspec.to_builtins(plan.comparisons),
        "notes": msgspec.to_builtins(plan.notes), "siblings": msgspec.to_builtins(plan.siblings), "pins": dict(plan.pins),
        "carried": [{**msgspec.to_builtins(one), "holds": one.holds} for one in plan.carried],
        "control_arm": {"points": len(arm), "gpu_hours": budget.price_control(facts)} if arm else None,
    }


def findings(plan: Plan) -> tuple[PlanFinding, ...]:
    """Everything that was found, what stops first; what the baseline alone tells where no check looked at it."""
    looked = any(one.check == "roster" for one in plan.checks)
    return (*of_checks(plan.checks), *(() if looked else of_baseline(plan.baseline, plan.missing_baseline)))


def _check(one: Checked) -> dict[str, Any]:
    found = of_checks([one])
    result = found[0].action if found else "unknown" if one.unknown else "holds"
    return {"result": result, **msgspec.to_builtins(one)}


def _terminal(facts: Bump) -> None:
    """What was found in full, and the commits with their titles."""
    checks = [(_heading(line), list(_lines(line))) for line in check_lines(facts) if not line.plain]
    if checks:
        typer.echo("\nChecks\n")
        entries(checks)
    for comparison in facts.subject.plan.comparisons:
        if comparison.touching:
            typer.echo(f"\nCommits that touch what the recipe uses, {_range(comparison)}\n")
            entries([_commit(one) for one in comparison.touching[:TOUCHING]])
            if left := compared(comparison).more:
                typer.echo(f"\nand {left} more")


def _heading(line: CheckLine) -> str:
    return f"{line.check}: {line.state}{f' ({line.class_})' if line.class_ else ''}"


def _lines(line: CheckLine) -> Iterator[str]:
    if line.what:
        yield line.what.en
    if line.evidence or line.where:
        yield f"seen: {', in '.join(part for part in (line.evidence, line.where) if part)}"
    if line.repair:
        yield f"known repair: {line.repair}"
    if line.next and line.who:
        yield f"next ({line.who}): {line.next.en}"


def _commit(one: Touch) -> tuple[str, list[str]]:
    pull = f" #{one.commit.pull}" if one.commit.pull else ""
    words = ", ".join(one.words)
    return f"{one.commit.sha[:9]} {one.commit.date[:10]}{pull} {one.commit.title}", [words] if words else []


def _range(comparison: Comparison) -> str:
    return f"{comparison.repository} {comparison.base[:12]} -> {comparison.head[:12]}"
