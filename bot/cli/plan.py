"""`bumpbot plan`: what a bump would change and say. It touches nothing and needs no account."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import msgspec
import typer

from bot import budget
from bot import scan as scans
from bot.adapters.assets import PackagedAssets
from bot.adapters.clock import SystemClock
from bot.baseline import findings
from bot.cli.files import matrix_of
from bot.cli.layouts import generator_of, layout_of, tree_of, unread
from bot.cli.output import as_json, note, report, working
from bot.cli.packaged import limits
from bot.cli.place import Place, parsed
from bot.cli.remote import commits, registry
from bot.cli.seen import ledger_of
from bot.cli.wiring import knowledge, published, renderer
from bot.decide.report import proposal
from bot.errors import Refusal
from bot.images import reference
from bot.layout import Layout
from bot.model.bump import Bump
from bot.model.policy import Answered
from bot.plan import Sources, bump_id, movable
from bot.plan import plan as gather
from bot.recipe.shelf import Shelf
from bot.wake import sights


def plan(place: Place, recipe: str, image: str | None, format_: str) -> None:
    """Edit, scope, upstream comparison and proposal of one recipe's move to an image."""
    if image is not None:
        parsed(reference.parse, image)
    assets, clock = PackagedAssets(), SystemClock()
    known, layout, tree = knowledge(assets), layout_of(place, assets), Shelf(tree_of(place))
    tree.home(layout, recipe)
    unread(tree, layout)
    movable(tree, layout, recipe)
    if place.offline:
        raise Refusal("a plan asks the registry what the image is", "leave --offline out, or use: bumpbot edit")
    with working("asking the registry, the forge and the source of baselines"), ExitStack() as stack:
        books, registries, upstream = ledger_of(place, stack), registry(clock, anew=True), commits(clock)
        reasons, hints = tuple[str, ...](), tuple[Answered, ...]()
        if image is None:
            past = sights.known(*books) if books else {}
            asked = scans.Sources(registry=registries, schemes=known.schemes, now=clock.now(), commits=upstream, **past)
            line = scans.proposed(scans.look(tree, layout, asked, recipe))
            image, reasons, hints = line.candidate or "", line.reasons, line.hints
        sources = Sources(
            tree=tree, registry=registries, schemes=known.schemes, commits=upstream,
            published=published(clock, layout, known, lambda: tree, books[0] if books else None),
            generator=generator_of(place, layout), say=lambda line: note(f"note: {line}"),
            **({"seen": sights.asked(*books, clock)} if books else {}),
        )
        subject = gather(sources, layout, recipe, image, limits(layout), reasons, hints)
    facts = Bump(id=bump_id(recipe, subject.candidate.new.digest), now=clock.now(), subject=subject)
    text = renderer(assets, layout, known).parts(proposal(facts, ended=None))[0]
    if format_ == "json":
        as_json(told(recipe, layout, facts, text))
    elif format_ == "markdown":
        typer.echo(f"{text}\n```diff\n{subject.plan.diff}```")
    else:
        report(text)
        typer.echo(f"\n{subject.plan.diff}", nl=False)


def told(recipe: str, layout: Layout, facts: Bump, text: str) -> dict[str, Any]:
    """The JSON of CONTRACTS section 2 `plan`. Findings are those of the baseline; checks of files are not made yet. `control_arm`
    is the run of the old image beside the sweep, None where no policy asks for one."""
    subject, arm = facts.subject, budget.control_points(facts)
    return {
        "recipe": recipe, "old": subject.candidate.old.reference.text, "new": subject.candidate.text,
        "sites": [{"file": site.file, "line": site.line, "path": site.path} for site in subject.plan.sites],
        "diff": subject.plan.diff, "matrix": matrix_of(layout, subject.plan.scope), "proposal": text,
        "findings": msgspec.to_builtins(findings(subject.plan.baseline, subject.plan.missing_baseline)),
        "reasons": list(subject.candidate.reasons), "missing_baseline": subject.plan.missing_baseline,
        "comparisons": msgspec.to_builtins(subject.plan.comparisons), "notes": msgspec.to_builtins(subject.plan.notes),
        "control_arm": {"points": len(arm), "gpu_hours": budget.price_control(facts)} if arm else None,
    }
