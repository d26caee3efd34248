"""Self-hosted runners: those that recipes ask for are there, and only the default branch's workflows reach them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.doctor.facts import Facts
from bot.doctor.finding import Told, good, hidden, unneeded, wrong
from bot.model.settings import Runner, RunnerGroup, Seen, Unseen

HOSTED = re.compile(r"(ubuntu|windows|macos)-[a-z0-9.-]+", re.IGNORECASE)
_COMMIT = re.compile(r"[0-9a-f]{40}")


def wanted(facts: Facts) -> list[tuple[str, ...]]:
    """The label sets that recipes ask for and GitHub does not host."""
    sets = [one.labels for one in facts.files.wanted if not hosted(one.labels)]
    return list(dict.fromkeys(sets))


def hosted(labels: Sequence[str]) -> bool:
    """Whether the forge itself has machines for these labels."""
    return all(HOSTED.fullmatch(label) for label in labels)


def online(facts: Facts) -> Told:
    """Whether a runner with all labels of each recipe is online."""
    assert facts.forge is not None
    asked = wanted(facts)
    if not asked:
        return unneeded("no recipe here names a runner of its own")
    page = f"{facts.page}/settings/actions/runners"
    there, hidden_ = _known(facts), _unseen(facts)
    absent = [labels for labels in asked if not any(fits(one, labels) for one in there)]
    asleep = [labels for labels in asked if labels not in absent and not any(fits(one, labels) and one.online for one in there)]
    if asleep:
        return wrong(f"every runner with {_named(asleep)} is offline", "start the runner's service on its machine", page)
    if absent and hidden_ is not None:
        return hidden(f"whether a runner has {_named(absent)}", hidden_, page)
    if absent:
        return wrong(f"no runner has {_named(absent)}", "register one, or correct `hardware.runner` of the recipe", page)
    return good(f"one with {_named(asked)} is online")


def restricted(facts: Facts) -> Told:
    """Whether anybody else's code reaches these machines: a self-hosted runner of a public repository is a way in."""
    assert facts.forge is not None
    forge = facts.forge
    runners, groups = forge.runners, forge.groups
    if not wanted(facts) and not _known(facts):
        return unneeded("no self-hosted runner is asked for")
    page = f"{facts.page}/settings/actions/runners"
    if not forge.repository.private and not isinstance(runners, Unseen) and runners:
        names = ", ".join(one.name for one in runners)
        return wrong(f"a public repository with runners of its own ({names}); a fork's pull request, once approved, runs there",
                     "move them to a runner group of the organisation, restricted to this repository's workflows on the default "
                     "branch", page)
    if not isinstance(groups, Unseen):
        for group in _serving(facts):
            if group.runners and (why := _open(facts, group)):
                return wrong(f"the runner group {group.name} {why}", "restrict it to this repository and to its workflows, each "
                             f"@refs/heads/{forge.repository.default_branch}", _group_page(facts))
    if (hidden_ := _unseen(facts)) is not None:
        return hidden("who may use the runners", hidden_, page)
    if not _known(facts):
        return unneeded("no self-hosted runner is registered")
    return good("only workflows of the default branch reach the runner groups" if not forge.repository.private
                else "a private repository: who may write here may use the runners")


def _open(facts: Facts, group: RunnerGroup) -> str:
    """What is open in a group, or nothing."""
    assert facts.forge is not None
    repository = facts.forge.repository
    if repository.private:
        return "serves every repository of the organisation, public ones too" if group.everywhere and group.public else ""
    if group.workflows is None:
        return "lets any workflow in, and so the code of a fork's pull request once that is approved"
    loose = [name for name in group.workflows if not _fixed(name, repository.default_branch)]
    return f"lets {', '.join(loose)} in, whose ref is not the default branch" if loose else ""


def _serving(facts: Facts) -> list[RunnerGroup]:
    """The groups that could be seen and serve this repository: one for private repositories does not serve a public one."""
    assert facts.forge is not None
    return serving(facts.forge.groups, private=facts.forge.repository.private)


def serving(groups: Seen[tuple[RunnerGroup, ...]], *, private: bool) -> list[RunnerGroup]:
    """The groups that serve a repository, of those that could be seen."""
    return [] if isinstance(groups, Unseen) else [group for group in groups if private or group.public]


def _fixed(name: str, default: str) -> bool:
    ref = name.partition("@")[2]
    return ref == f"refs/heads/{default}" or _COMMIT.fullmatch(ref) is not None


def _known(facts: Facts) -> list[Runner]:
    """Every runner that could be seen."""
    assert facts.forge is not None
    return known(facts.forge.runners, facts.forge.groups, private=facts.forge.repository.private)


def known(runners: Seen[tuple[Runner, ...]], groups: Seen[tuple[RunnerGroup, ...]], *, private: bool) -> list[Runner]:
    """The repository's runners and those of the groups that serve it, as far as they could be seen."""
    own = [] if isinstance(runners, Unseen) else list(runners)
    return [*own, *(one for group in serving(groups, private=private) for one in group.runners)]


def _unseen(facts: Facts) -> Unseen | None:
    """What of the runners could not be seen: the repository's, the organisation's, or both."""
    assert facts.forge is not None
    return unseen(facts.forge.runners, facts.forge.groups)


def unseen(runners: Seen[tuple[Runner, ...]], groups: Seen[tuple[RunnerGroup, ...]]) -> Unseen | None:
    """What of both could not be seen, as one."""
    found = [one for one in (runners, groups) if isinstance(one, Unseen)]
    return Unseen(why=found[0].why, needs=" and ".join(one.needs for one in found)) if found else None


def fits(runner: Runner, labels: Sequence[str]) -> bool:
    """Whether a runner has all labels that a job asks for, without regard to case as GitHub has it."""
    return {label.casefold() for label in labels} <= {label.casefold() for label in runner.labels}


def _named(sets: Sequence[Sequence[str]]) -> str:
    return " and ".join(f"[{', '.join(labels)}]" for labels in sets)


def _group_page(facts: Facts) -> str:
    assert facts.forge is not None
    owner = facts.forge.repository.name.partition("/")[0]
    return f"{facts.page.rsplit('/', 2)[0]}/organizations/{owner}/settings/actions/runner-groups"
