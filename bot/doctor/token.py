"""The token: whose it is, what it may do and must not, and what it cannot start."""

from __future__ import annotations

from bot.doctor.facts import APP_ID, ENVIRONMENT, Facts
from bot.doctor.finding import Told, good, hidden, unknown, unneeded, wrong
from bot.model.settings import App, Holder, Repository, Seen, Unseen

NEEDS = {"contents": "write", "pull_requests": "write", "issues": "write", "actions": "write"}
# What an App could do that a bump never does: each would let a stolen key change who guards the bot.
NEVER = ("workflows", "administration", "secrets", "environments", "actions_variables", "members", "organization_secrets",
         "organization_actions_variables", "organization_administration", "organization_self_hosted_runners")
SCOPES = frozenset({"repo", "public_repo", "repo:status", "repo:invite", "repo_deployment", "read:org", "read:user",
                    "user:email", "read:packages", "read:project"})
WORDS = {"app": "the App", "default": "a job's own token (GITHUB_TOKEN)", "classic": "a classic token of",
         "fine-grained": "a fine-grained token of", "installation": "an App's token or a job's own"}
LIMITS = ("events by GITHUB_TOKEN start no workflow but a dispatch, so a bump's push and pull request start no ci, and no "
          "label that it puts on is heard")


def lacking(holder: Holder, app: Seen[App] | None, repository: Repository) -> tuple[str, ...]:
    """The rights that a bump needs and a token is known not to have; what nobody tells is no lack."""
    if isinstance(app, App):
        return tuple(f"{name}: {level}" for name, level in NEEDS.items() if app.permissions.get(name) not in (level, "admin"))
    if holder.kind == "classic" and not _writes(holder.scopes, private=repository.private):
        return ("repo",)
    # Of a job's own token the forge tells what the repository's default is, and not what its workflow gives it: with that token
    # a bump goes as far as the draft's branch.
    told = holder.kind not in ("default", "installation")
    return ("contents: write",) if told and repository.may_push is False else ()


def who(facts: Facts) -> Told:
    """Whose token this is."""
    assert facts.forge is not None
    holder, repository = facts.forge.holder, facts.forge.repository
    named = f"{WORDS[holder.kind]} {holder.login}".strip() if holder.kind != "default" else WORDS["default"]
    use = "" if facts.ours or holder.kind in ("app", "default") else ", who looks; the bot acts with its own"
    if holder.kind == "installation":
        return unknown(f"{named}: the forge does not say which", "set BUMPBOT_TOKEN to the App's token in the workflow")
    if facts.ours and repository.may_push is False:
        return wrong(f"{named}: it may not push to {repository.name}", "give it contents: write on this repository")
    return good(named + use)


def rights(facts: Facts) -> Told:
    """Whether it may do what a bump needs, and nothing that would let a stolen one change the guards."""
    assert facts.forge is not None
    holder, app = facts.forge.holder, facts.forge.app
    if isinstance(app, App):
        return _app(facts, app)
    if isinstance(app, Unseen):
        return hidden("the App's permissions", app, _apps(facts))
    if not facts.ours:
        return unneeded("the bot's own token was not given to this command; run doctor in its workflow to see it")
    if holder.kind == "classic":
        return _classic(facts, holder.scopes)
    if holder.kind == "fine-grained":
        needs = ", ".join(f"{name}: {level}" for name, level in NEEDS.items())
        return unknown("the forge tells nobody what a fine-grained token may do", f"see that it has {needs}, and not workflows",
                       f"{_site(facts)}/settings/personal-access-tokens")
    return unneeded("each job of a workflow says what its own token may do")


def _app(facts: Facts, app: App) -> Told:
    at = f"{_apps(facts)}/{app.slug}/permissions"
    held = app.permissions
    over = [name for name in NEVER if held.get(name) in ("write", "admin")]
    if over:
        why = ", and so could change those that guard its key" if "workflows" in over else ""
        return wrong(f"{app.slug} may write {', '.join(over)}{why}", "take these permissions from the App", at)
    assert facts.forge is not None
    if short := lacking(facts.forge.holder, app, facts.forge.repository):
        return wrong(f"{app.slug} lacks {', '.join(short)}",
                     "give the App these permissions, and accept them where it is installed", at)
    return good(f"{app.slug} may write {', '.join(name for name in NEEDS)}, and not workflows")


def _classic(facts: Facts, scopes: tuple[str, ...]) -> Told:
    assert facts.forge is not None
    at, private = f"{_site(facts)}/settings/tokens", facts.forge.repository.private
    if not _writes(scopes, private=private):
        return wrong(f"its scopes ({', '.join(scopes) or 'none'}) do not let it write here",
                     "use an App, or give the token `repo`", at)
    over = [name for name in scopes if name not in SCOPES]
    if over:
        return wrong(f"{', '.join(over)} is more than the bot needs", "use an App; else a token without these scopes", at)
    return good(f"scopes {', '.join(scopes)}; it reaches every repository of its owner, which an App would not")


def _writes(scopes: tuple[str, ...], *, private: bool) -> bool:
    return "repo" in scopes or (not private and "public_repo" in scopes)


def starts(facts: Facts) -> Told:
    """What the bot acts with, and what a job's own token cannot start."""
    assert facts.forge is not None
    forge = facts.forge
    if facts.ours and forge.holder.kind not in ("default", "installation"):
        return good(f"BUMPBOT_TOKEN is {WORDS[forge.holder.kind]} {forge.holder.login}, whose pushes and labels start workflows")
    if isinstance(forge.environment, Unseen) or isinstance(forge.held, Unseen):
        unseen = forge.held if isinstance(forge.held, Unseen) else forge.environment
        assert isinstance(unseen, Unseen)
        return hidden("whether an App or fine-grained token is set", unseen, f"{facts.page}/settings/environments")
    held = _held(facts)
    if held:
        return good(f"the environment {ENVIRONMENT} holds {', '.join(held)}, whose pushes and labels start workflows")
    sweep = facts.layout.sweep if facts.layout else None
    label = f"; the label {sweep.label} would start no sweep" if sweep and sweep.start == "label" else ""
    return wrong(f"no App or fine-grained token is set, and {LIMITS}{label}. The bot stops at the draft's branch",
                 f"install an App, set the variable {APP_ID} and the secret {facts.files.keys[0]} of the environment {ENVIRONMENT}",
                 f"{_apps(facts)}/new")


def acts_alone(facts: Facts) -> bool | None:
    """Whether the bot has nothing but a job's own token; None where that cannot be seen."""
    assert facts.forge is not None
    forge = facts.forge
    if facts.ours and forge.holder.kind not in ("default", "installation"):
        return False
    if isinstance(forge.environment, Unseen) or isinstance(forge.held, Unseen):
        return None
    return not _held(facts)


def _held(facts: Facts) -> list[str]:
    assert facts.forge is not None
    held = facts.forge.held
    return [] if held is None or isinstance(held, Unseen) else [name for name in facts.files.keys if name in held]


def app_id(facts: Facts) -> Told:
    """Whether the variable names the App that acts."""
    assert facts.forge is not None
    forge, page = facts.forge, f"{facts.page}/settings/variables/actions"
    own = forge.own_variables
    known = {**({} if isinstance(forge.variables, Unseen) else forge.variables),
             **({} if own is None or isinstance(own, Unseen) else own)}
    told = known.get(APP_ID)
    wakes = [job for one in facts.files.workflows.values() for job in one.jobs if job.wakes]
    if told is None and wakes and not any(APP_ID in job.variables for job in wakes):
        return unneeded(f"no workflow that runs the bot names {APP_ID}")
    if told is None:
        for unseen in (forge.variables, own):
            if isinstance(unseen, Unseen):
                return hidden(APP_ID, unseen, page)
        if not isinstance(forge.held, Unseen) and not _held(facts):
            return unneeded("no key is set, so no App is named")
        return wrong(f"{APP_ID} is not set, so no workflow can make the App's token", "set the variable to the App's id", page)
    if isinstance(forge.app, App) and told not in (str(forge.app.id), forge.app.client_id):
        return wrong(f"{APP_ID} is {told}, and the App {forge.app.slug} is {forge.app.id}", "correct the variable", page)
    return good(f"{APP_ID} is {told}")


def _apps(facts: Facts) -> str:
    """Where Apps are kept: an organisation's App is its own."""
    assert facts.forge is not None
    owner = facts.forge.repository.name.partition("/")[0]
    return f"{_site(facts)}/{f'organizations/{owner}/' if facts.forge.repository.organisation else ''}settings/apps"


def _site(facts: Facts) -> str:
    return facts.page.rsplit("/", 2)[0]
