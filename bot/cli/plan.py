"""`bumpbot plan`: what a bump would change and say. It touches nothing and needs no account."""

from __future__ import annotations

from typing import Any

import msgspec
import typer

from bot.adapters.assets import PackagedAssets
from bot.adapters.clock import SystemClock
from bot.adapters.commits import GitHubCommits
from bot.cli import environment
from bot.cli.files import matrix_of
from bot.cli.layouts import layout_of, tree_of
from bot.cli.output import as_json, report, working
from bot.cli.place import Place, parsed
from bot.cli.wiring import knowledge, limits, published, registry, renderer
from bot.decide.report import proposal
from bot.errors import BadArguments, Refusal
from bot.images import reference
from bot.layout import Layout
from bot.model.bump import Bump, Subject
from bot.plan import Sources, bump_id
from bot.plan import plan as gather
from bot.recipe.shelf import Shelf


def plan(place: Place, recipe: str, image: str | None, format_: str) -> None:
    """Edit, scope, upstream comparison and proposal of one recipe's move to an image."""
    if image is None:
        raise BadArguments("no image is named", f"bumpbot plan {recipe} --image REF")
    parsed(reference.parse, image)
    if place.offline:
        raise Refusal("a plan asks the registry what the image is", "leave --offline out, or use: bumpbot edit")
    assets, clock = PackagedAssets(), SystemClock()
    known, layout, tree = knowledge(assets), layout_of(place, assets), tree_of(place)
    Shelf(tree).home(layout, recipe)
    sources = Sources(
        tree=tree, registry=registry(clock), schemes=known.schemes,
        commits=GitHubCommits(clock, base_url=environment.api(), token=environment.word("GITHUB_TOKEN")),
        published=published(clock, layout, known, lambda: tree),
    )
    with working("asking the registry, the forge and the source of baselines"):
        subject = gather(sources, layout, recipe, image, limits(layout))
    facts = Bump(id=bump_id(recipe, subject.candidate.new), now=clock.now(), subject=subject)
    text = renderer(assets, layout, known).parts(proposal(facts, ended=None))[0]
    if format_ == "json":
        as_json(told(recipe, layout, subject, text))
    elif format_ == "markdown":
        typer.echo(f"{text}\n```diff\n{subject.plan.diff}```")
    else:
        report(text)
        typer.echo(f"\n{subject.plan.diff}", nl=False)


def told(recipe: str, layout: Layout, subject: Subject, text: str) -> dict[str, Any]:
    """The JSON of CONTRACTS section 2 `plan`. Findings are those of preflight checks; none are made yet."""
    return {
        "recipe": recipe, "old": subject.candidate.old.reference.text, "new": subject.candidate.text,
        "sites": [{"file": site.file, "line": site.line, "path": site.path} for site in subject.plan.sites],
        "diff": subject.plan.diff, "matrix": matrix_of(layout, subject.plan.scope), "findings": [], "proposal": text,
        "reasons": list(subject.candidate.reasons), "missing_baseline": subject.plan.missing_baseline,
        "comparisons": msgspec.to_builtins(subject.plan.comparisons),
    }
