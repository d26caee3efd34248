"""The key: in an environment that serves the default branch and nothing else, and nowhere beside it."""

from __future__ import annotations

from bot.doctor.facts import ENVIRONMENT, Facts
from bot.doctor.finding import Told, good, hidden, unknown, unneeded, wrong
from bot.doctor.workflows import keyed
from bot.model.settings import Environment, Unseen


def limited(facts: Facts) -> Told:
    """Whether the environment exists, and serves the default branch alone without waiting for anybody."""
    assert facts.forge is not None
    found, page = facts.forge.environment, f"{facts.page}/settings/environments"
    default = facts.forge.repository.default_branch
    only = f'under "Deployment branches and tags" choose "Selected branches and tags", and name {default} alone'
    if isinstance(found, Unseen):
        return hidden(f"the environment {ENVIRONMENT}", found, page)
    if found is None:
        return wrong(f"there is no environment {ENVIRONMENT}, so nothing guards the key", f"make it; {only}", page)
    if found.serves != "named":
        every = "branch" if found.serves == "any" else "protected branch, the ledger's too"
        return wrong(f"{ENVIRONMENT} serves every {every}, so that a workflow there can read the key", only, page)
    others = [name for name in found.branches if name != default]
    if others or found.tags or default not in found.branches:
        named = ", ".join((*found.branches, *(f"tag {name}" for name in found.tags))) or "nothing"
        return wrong(f"{ENVIRONMENT} serves {named}", only, page)
    return _waits(found, default, page)


def _waits(found: Environment, default: str, page: str) -> Told:
    if found.waits:
        return wrong(f"every wake would wait for {' and '.join(found.waits)}",
                     f"take that rule from the environment {ENVIRONMENT}", page)
    return good(f"{ENVIRONMENT} serves {default} alone")


def held(facts: Facts) -> Told:
    """Whether the environment holds a key. Only names of secrets can be read."""
    assert facts.forge is not None
    forge, page = facts.forge, f"{facts.page}/settings/environments"
    if isinstance(forge.held, Unseen):
        return hidden(f"the secrets of {ENVIRONMENT}", forge.held, page)
    if forge.held is None and isinstance(forge.environment, Unseen):
        return hidden(f"the secrets of {ENVIRONMENT}", forge.environment, page)
    keys = facts.files.keys
    names = [name for name in keys if name in (forge.held or ())]
    if names:
        return good(f"{ENVIRONMENT} holds {', '.join(names)}")
    return wrong(f"{ENVIRONMENT} does not hold {' or '.join(keys)}",
                 "set the App's private key there, as a secret of the environment",
                 f"gh secret set {keys[0]} --env {ENVIRONMENT} --repo {forge.repository.name} < key.pem")


def nowhere_else(facts: Facts) -> Told:
    """A secret of the repository or organisation is given to a workflow of any branch, whatever the environment says."""
    assert facts.forge is not None
    found, page = facts.forge.secrets, f"{facts.page}/settings/secrets/actions"
    if isinstance(found, Unseen):
        return hidden("the secrets of the repository", found, page)
    names = [name for name in facts.files.keys if name in found]
    if names:
        return wrong(f"{', '.join(names)} is a secret of the repository or organisation, which a workflow of any branch can read",
                     f"delete it there, make a new key, and set that in the environment {ENVIRONMENT} alone", page)
    return good("the key is no secret of the repository or organisation")


def used(facts: Facts) -> Told:
    """Whether each job that names the key runs in the environment."""
    found = keyed(facts)
    if not found:
        return unneeded("no workflow names the key")
    outside = [(one.path, job) for one in found for job in one.holding(facts.files.keys) if job.environment != ENVIRONMENT]
    if not outside:
        return good(f"each of {', '.join(one.file for one in found)} runs in {ENVIRONMENT}")
    path, job = outside[0]
    if "${{" in job.environment:
        return unknown(f"{path}: the job {job.name} computes its environment", f"write `environment: {ENVIRONMENT}`")
    said = f"runs in {job.environment}" if job.environment else "names no environment"
    return wrong(f"{path}: the job {job.name} names the key and {said}", f"add `environment: {ENVIRONMENT}` to the job")
