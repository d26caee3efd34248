"""The repository itself: reached, its layout, its labels, how much the bot may do, the ledger's place, images that resolve."""

from __future__ import annotations

from bot.doctor.facts import LEDGER, MODE, Facts
from bot.doctor.finding import Told, good, hidden, unknown, unneeded, wrong
from bot.model.settings import Unseen

MODES = ("off", "observe", "propose", "act")


def reached(facts: Facts) -> Told:
    """Whether the token sees the repository, and whether anything can be written there."""
    forge = facts.forge
    if forge is None:
        return wrong(facts.absent, "correct GITHUB_REPOSITORY, or give the token access to it", facts.page) if facts.absent \
            else unknown("no forge was asked (--offline)")
    found = forge.repository
    for said, word in ((found.archived, "archived"), (found.disabled, "disabled")):
        if said:
            return wrong(f"{found.name} is {word}: nothing can be written", "un-archive it, or name another repository",
                         f"{facts.page}/settings")
    return good(f"{found.name}, {'private' if found.private else 'public'}, default branch {found.default_branch}")


def layout(facts: Facts) -> Told:
    """Whether the layout of the default branch holds, and its base is a branch."""
    if facts.layout is None:
        return wrong(facts.layout_fault, "correct it on the default branch, and check it with", "bumpbot layout check")
    if facts.base_exists is False:
        return wrong(f"{facts.layout_source} moves recipes on {facts.layout.base}, and there is no such branch",
                     "name the branch in `base:`")
    if facts.files.broken:
        more = f" (and {len(facts.files.broken) - 1} more)" if len(facts.files.broken) > 1 else ""
        return wrong(f"a recipe does not hold. {facts.files.broken[0]}{more}", "correct the recipe")
    return good(f"{facts.layout_source}; bumps go to {facts.layout.base}")


def labels(facts: Facts) -> Told:
    """Every label that asks the bot for something, or that it puts on."""
    assert facts.forge is not None and facts.layout is not None
    if isinstance(facts.forge.labels, Unseen):
        return hidden("labels", facts.forge.labels, f"{facts.page}/labels")
    smoke, sweep = facts.layout.smoke, facts.layout.sweep
    asked = [smoke.label if smoke else "", *((sweep.label, *sweep.fail_fast) if sweep else ()), facts.layout.handoff]
    there = {name.casefold() for name in facts.forge.labels}
    wanted = list(dict.fromkeys(name for name in asked if name))
    missing = [name for name in wanted if name.casefold() not in there]
    if missing:
        make = "; ".join(f'gh label create "{name}" --repo {facts.forge.repository.name}' for name in missing)
        return wrong(f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing",
                     "make each, so that people can put it on", make)
    return good(", ".join(wanted) or "the layout names none")


def mode(facts: Facts) -> Told:
    """BUMPBOT_MODE, where the workflow reads it: this environment, else the variables of the forge."""
    page = f"{facts.page}/settings/variables/actions"
    value = facts.mode
    if value is None:
        if facts.forge is None:
            return unknown(f"{MODE} is not set here, and no forge was asked", "look yourself", page)
        own, shared = facts.forge.own_variables, facts.forge.variables
        known = {**({} if isinstance(shared, Unseen) else shared), **({} if own is None or isinstance(own, Unseen) else own)}
        value = known.get(MODE)
        if value is None and isinstance(shared, Unseen):
            return hidden(MODE, shared, page)
    if not value:
        return good(f"{MODE} is not set, which means act")
    if value not in MODES:
        return wrong(f"{MODE} is {value!r}, which is no mode: nothing is done", f"write one of {', '.join(MODES)}", page)
    return good(f"{MODE} is {value}")


def ledger(facts: Facts) -> Told:
    """Whether the branch that remembers can be reached where it lies."""
    place = facts.ledger_place
    if facts.ledger_fault:
        return wrong(f"{place}: {facts.ledger_fault}", "make the repository, or give BUMPBOT_LEDGER_TOKEN contents: write on it")
    if facts.forge is None and place:
        return unknown(f"it lies in {place}; no forge was asked")
    return good(f"it lies in {place}" if place else f"the branch {LEDGER} of this repository")


def images(facts: Facts) -> Told:
    """Whether the images that own recipes name can be asked for."""
    if facts.images is None:
        return unneeded("no registry was asked (--offline)")
    if not facts.images and not facts.unanswered:
        return unneeded("a bump asks for its own images; the layout keeps no recipe of its own")
    bad = [trouble for trouble in facts.images.values() if trouble]
    if bad:
        return wrong("; ".join(bad), "correct the image, or log in to its registry", "docker login")
    if facts.unanswered:
        return unknown(f"no answer: {', '.join(facts.unanswered)}", "ask again later")
    return good(f"{len(facts.images)} resolved")

