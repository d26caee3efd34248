"""`bumpbot plan`: what a bump would change and say. It touches nothing and needs no account."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from bot import ledger
from bot import scan as scans
from bot.adapters.assets import PackagedAssets
from bot.adapters.clock import SystemClock
from bot.adapters.fleet import LayoutFleet
from bot.adapters.github.settings import GitHubSettings
from bot.cli import environment, planned
from bot.cli.layouts import generator_of, layout_of, tree_of, unread
from bot.cli.output import note, working
from bot.cli.packaged import limits
from bot.cli.place import Place, parsed
from bot.cli.remote import commits, registry
from bot.cli.seen import ledger_of
from bot.cli.upstream import upstreams
from bot.cli.wiring import knowledge, published, renderer
from bot.decide.report import proposal
from bot.errors import Refusal
from bot.images import reference
from bot.model.bump import Bump
from bot.model.policy import Answered
from bot.plan import Sources, bump_id, movable
from bot.plan import plan as gather
from bot.ports import Clock
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
        books, registries = ledger_of(place, stack), registry(clock, anew=True)
        read, surveyor, upstream = upstreams(commits(clock), layout, stack, token=environment.word("GITHUB_TOKEN"))
        reasons, hints = tuple[str, ...](), tuple[Answered, ...]()
        if image is None:
            past = sights.known(*books) if books else {}
            asked = scans.Sources(registry=registries, schemes=known.schemes, now=clock.now(), commits=upstream,
                                  histories=scans.histories(read, layout), **past)
            line = scans.proposed(scans.look(tree, layout, asked, recipe))
            image, reasons, hints = line.candidate or "", line.reasons, line.hints
        sources = Sources(
            tree=tree, registry=registries, schemes=known.schemes, commits=upstream,
            published=published(clock, layout, known, lambda: tree, books[0] if books else None),
            generator=generator_of(place, layout), say=lambda line: note(f"note: {line}"),
            now=clock.now(), engines=known.engines, upstreams=read, surveyor=surveyor,
            fleet=LayoutFleet(layout.preflight, lambda: tree, clock), **_asked(clock),
            **({"seen": sights.asked(*books, clock), "lessons": lambda: ledger.lessons(*books, note)} if books else {}),
        )
        subject = gather(sources, layout, recipe, image, limits(layout), reasons, hints)
    facts = Bump(id=bump_id(recipe, subject.candidate.new.digest), now=clock.now(), subject=subject)
    text = renderer(assets, layout, known).parts(proposal(facts, ended=None))[0]
    planned.show(format_, recipe, layout, facts, text)


def _asked(clock: Clock) -> dict[str, Any]:
    """The forge of the repository, where this machine's environment names one and has a token for it."""
    token, named = environment.word("BUMPBOT_TOKEN", "GITHUB_TOKEN"), environment.word("GITHUB_REPOSITORY")
    if token is None or named is None:
        return {}
    acts = environment.word("BUMPBOT_TOKEN") is not None  # another's token says nothing of who will act
    return {"settings": GitHubSettings(environment.api(), environment.repository(), token, clock),
            "me": environment.login() if acts else ""}
