"""Rules over branches: the default branch is guarded, the ledger is never rewritten, and the bot can push its own."""

from __future__ import annotations

from collections.abc import Sequence

from bot.doctor.facts import APP_ID, Facts, Guards
from bot.doctor.finding import Told, good, hidden, unknown, unneeded, wrong
from bot.model.settings import App, BranchRule, Ruleset, Seen, Unseen

# Rules under which a plain push of the bot's is refused.
LOCKS = {"creation": "forbids making branches", "update": "forbids pushes", "pull_request": "demands a pull request",
         "required_signatures": "demands signed commits", "required_status_checks": "demands status checks",
         "required_deployments": "demands deployments", "merge_queue": "demands the merge queue", "workflows": "demands workflows",
         "branch_name_pattern": "demands a branch name", "commit_message_pattern": "demands a commit message",
         "commit_author_email_pattern": "demands an author's address", "committer_email_pattern": "demands a committer's address"}
WORDS = {"review": "needs no review", "force": "may be force-pushed", "deletion": "may be deleted"}


def base(facts: Facts) -> Told:
    """The default branch decides what the bot is and what it may read, so nobody moves it alone."""
    assert facts.forge is not None
    found = facts.forge.base
    return _guarded(facts, found, ("review", "force", "deletion"), "needs a review, and is neither force-pushed nor deleted",
                    "add a ruleset for the default branch: restrict deletions, block force pushes, require a pull request with "
                    "1 approval")


def ledger(facts: Facts) -> Told:
    """The ledger's chain holds only while nobody can rewrite it."""
    assert facts.forge is not None
    found = facts.forge.ledger
    if found is None:
        return unneeded(facts.ledger_fault or f"the ledger lies in {facts.ledger_place}, outside of this forge's rules")
    told = _guarded(facts, found, ("force", "deletion"), "is neither force-pushed nor deleted",
                    f"add a ruleset for {found.branch}: restrict deletions, block force pushes, and nothing else")
    return told if told.state != "good" else _pushable(facts, found, told)


def bumps(facts: Facts) -> Told:
    """Whether the bot can push the branches of its bumps."""
    assert facts.forge is not None and facts.layout is not None
    return _pushable(facts, facts.forge.bumps, good(f"no rule keeps the bot from {facts.layout.branch}*"))


def _guarded(facts: Facts, found: Guards, wanted: Sequence[str], said: str, mend: str) -> Told:
    """Rulesets first, for everybody may read them; what these lack, a classic protection may give."""
    page = f"{facts.page}/settings/rules/new?target=branch"
    if isinstance(found.rules, Unseen):
        return hidden(f"the rules of {found.branch}", found.rules, f"{facts.page}/rules")
    lacking = [word for word in wanted if not _ruled(found.rules, word)]
    if not lacking:
        return good(f"{found.branch} {said}")
    if isinstance(found.protection, Unseen):
        return hidden("whether a classic protection does", found.protection, f"{facts.page}/settings/branches",
                      known=f"no ruleset says that {found.branch} {said}")
    classic = found.protection
    if classic is not None:
        gives = {"review": classic.reviews > 0, "force": not classic.force_pushes, "deletion": not classic.deletions}
        lacking = [word for word in lacking if not gives[word]]
    if lacking:
        return wrong(f"{found.branch} {' and '.join(WORDS[word] for word in lacking)}", mend, page)
    return good(f"{found.branch} {said}")


def _ruled(rules: Sequence[BranchRule], word: str) -> bool:
    kind = {"review": "pull_request", "force": "non_fast_forward", "deletion": "deletion"}[word]
    return any(rule.kind == kind and (word != "review" or rule.reviews > 0) for rule in rules)


def _pushable(facts: Facts, found: Guards, fine: Told) -> Told:
    """Whether no rule refuses the bot's plain push, or each that would lets it by."""
    if isinstance(found.rules, Unseen):
        return hidden(f"the rules of {found.branch}", found.rules, f"{facts.page}/rules")
    locks = [rule for rule in found.rules if rule.kind in LOCKS]
    passes = {rule.ruleset: _passes(facts, found.rulesets.get(rule.ruleset)) for rule in locks}
    page = f"{facts.page}/settings/rules"
    for rule in locks:
        if passes[rule.ruleset] is False:
            return wrong(f"a ruleset {LOCKS[rule.kind]} on {found.branch}, and does not let the bot by",
                         "add the App to the ruleset's bypass list, or leave these branches out of it", f"{page}/{rule.ruleset}")
    for rule in locks:
        if passes[rule.ruleset] is None:
            return unknown(f"a ruleset {LOCKS[rule.kind]} on {found.branch}; who passes by it is not shown to this token",
                           "see that the App is on its bypass list", f"{page}/{rule.ruleset}")
    classic = None if isinstance(found.protection, Unseen) else found.protection
    if classic is not None and (classic.restricted or classic.signed or classic.reviews):
        return unknown(f"a classic protection restricts pushes to {found.branch}", "see that the bot may push there",
                       f"{facts.page}/settings/branches")
    return fine


def _passes(facts: Facts, found: Seen[Ruleset] | None) -> bool | None:
    """Whether the bot passes by a ruleset; None when it cannot be told."""
    assert facts.forge is not None
    if found is None or isinstance(found, Unseen):
        return None
    if facts.ours and found.holder_passes is not None:
        return found.holder_passes
    known = facts.forge.variables
    told = None if isinstance(known, Unseen) else known.get(APP_ID)
    number_of = facts.forge.app.id if isinstance(facts.forge.app, App) else int(told) if told and told.isdigit() else None
    if found.apps is None or number_of is None:
        return False if found.apps == () else None
    return number_of in found.apps
