"""What may take the place of each recipe's image: a listing of each repository, and one look at each tag that would win.

A look is taken only at what matters: at the tag that tags alone would choose, else at the recipe's own, which may have been
pushed again. So an image costs two requests, and a scan of two hundred fits below an anonymous limit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from bot.errors import BadInput, BumpbotError
from bot.images import reference
from bot.images.contains import Histories
from bot.images.policy import Policy
from bot.images.schemes import Scheme
from bot.layout import Layout
from bot.model.image import Held, Look, Reference
from bot.model.ledger import Seen
from bot.model.outcome import Disposition
from bot.model.scan import Scanned
from bot.ports import Commits, Registry, Tree
from bot.recipe.movable import obstacles
from bot.recipe.read import family, outline, policy
from bot.recipe.shelf import Shelf
from bot.scan.question import Question
from bot.scan.reading import recipes
from bot.scan.upstream import Upstream

# A winner that a look rules out makes room for the next; a registry whose every tag is ruled out is not followed for ever.
LOOKS = 8
# Images of which a third request is below anybody's limit: a stranger has a hundred in six hours at the best-known registry.
FEW = 30
# What a policy settles before any registry is asked.
SHUT = (Disposition.PINNED, Disposition.OBSERVED_ONLY)


@dataclass(frozen=True, slots=True)
class Sources:
    """What a scan asks. Without a registry files alone answer, without commits no history does; `histories` tell
    of pull requests, reverts and cherry-picks, by `owner/name`. `seen` are our own sights of
    a repository's tags, `moved` when a recipe's image was last moved. `own_too`: look also at each tag that a recipe runs
    without a digest, one request more an image: who looks daily sees it move under the published baseline. Where there are at
    most `few` images that is always done: a newer name of the bytes that run is then known for what it is."""

    schemes: tuple[Scheme, ...]
    now: datetime
    registry: Registry | None = None
    commits: Commits | None = None
    histories: Histories = lambda repository: None
    seen: Callable[[Reference], Seen] = lambda reference: Seen()
    moved: Callable[[str], datetime | None] = lambda recipe: None
    own_too: bool = False
    few: int = FEW


class Scan(Struct, frozen=True, kw_only=True):
    """The lines of a scan, what was looked at, and whether the world answered at all where it was asked: `reached` also where
    all that it answered was a refusal, or not to be believed."""

    lines: tuple[Scanned, ...]
    looks: tuple[Look, ...]
    answered: bool = True
    reached: bool = True


def scan(tree: Tree | Shelf, layout: Layout, sources: Sources, only: Collection[str] | None = None) -> Scan:
    """Every recipe, or those named, with the image that may take its own one's place, and why. One that cannot be read, and a
    registry that fails, take no other's answer away."""
    shelf = Shelf.of(tree)
    lines, asked, shared = list[Scanned](), dict[str, Question](), dict[tuple[object, ...], Question]()
    for one in recipes(shelf, layout, sources.schemes):
        if only is not None and one.recipe not in only:
            continue
        current = _parsed(one.image)
        if current is not None and current.tag is not None:
            try:
                rules = policy(shelf, layout, outline(shelf, layout, one.recipe))
            except BadInput as error:
                one = replace(one, unknown=(*one.unknown, f"the recipe does not hold: {error}"))
            else:
                asked[one.recipe] = _question(current, rules, one.recipe, sources, shared)
        lines.append(one)
    open_ = [question for question in shared.values() if question.choice.disposition not in SHUT]
    for question in open_:
        question.own_too = question.reference.digest is None and (sources.own_too or len(open_) <= sources.few)
    looks = _ask(open_, sources, Upstream(sources.commits, sources.registry, layout, sources.schemes, sources.histories))
    told = tuple(_barred(shelf, layout, asked[one.recipe].told(one)) if one.recipe in asked else one for one in lines)
    silent = sources.registry is not None and bool(open_) and all(question.trouble for question in open_)
    return Scan(lines=told, looks=looks, answered=not silent, reached=not silent or any(one.reached for one in open_))


def _barred(shelf: Shelf, layout: Layout, line: Scanned) -> Scanned:
    """The line with what keeps plan and bump from moving the recipe, where it has a candidate."""
    if line.candidate is None:
        return line
    found = obstacles(shelf, layout, family(shelf, layout, line.recipe))
    return replace(line, reasons=(*line.reasons, f"plan refuses it: {found[0].reason}")) if found else line


def _question(current: Reference, rules: Policy, recipe: str, sources: Sources,
              shared: dict[tuple[object, ...], Question]) -> Question:
    moved = sources.moved(recipe)
    key = (current.text, rules, moved)
    if key not in shared:
        shared[key] = Question(current, rules, sources.schemes, seen=sources.seen(current), moved=moved, now=sources.now)
    return shared[key]


def _ask(questions: Sequence[Question], sources: Sources, upstream: Upstream) -> tuple[Look, ...]:
    if sources.registry is None:
        for question in questions:
            question.trouble = "which tags there are: no registry was asked (--offline)"
        return ()
    listings = sources.registry.listings([question.reference for question in questions])
    for question in questions:
        question.listed(listings[question.reference.name])
    upstream.order(questions)
    return _look(questions, sources.registry, upstream, sources.now)


def _look(questions: Sequence[Question], registry: Registry, upstream: Upstream, now: datetime) -> tuple[Look, ...]:
    looks: dict[str, Look] = {}
    for _ in range(LOOKS):
        wanted = [(question, tag) for question in questions if (tag := question.wanted()) is not None]
        if not wanted:
            break
        held = registry.held([tag for _, tag in wanted])
        for question, tag in wanted:
            answer = held[tag.text]
            contains = {} if isinstance(answer, BumpbotError) else upstream.contains(tag, answer, question.policy)
            question.looked(tag.tag or "latest", answer, contains)
            if isinstance(answer, Held):
                looks[reference.canonical(tag)] = Look(reference=tag, digest=answer.digest, at=now)
    return tuple(looks.values())


def _parsed(text: str | None) -> Reference | None:
    try:
        return reference.parse(text or "")
    except BadInput:
        return None
