"""What GitHub's own pages would show of a repository's settings: plain mutable records, changed by people and by REST."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bot.rehearse.github.triggers import selected

Named = dict[str, str]


@dataclass(kw_only=True)
class Environment:
    """`policies` None: any branch may use it; () with `protected`: the protected ones; else (name, branch or tag) patterns."""

    policies: list[tuple[str, str]] | None = None
    protected: bool = False
    reviewers: bool = False
    secrets: list[str] = field(default_factory=list)
    variables: Named = field(default_factory=dict)


@dataclass(kw_only=True)
class Machine:
    """A self-hosted runner."""

    name: str
    labels: tuple[str, ...] = ("self-hosted",)
    online: bool = True
    busy: bool = False


@dataclass(kw_only=True)
class Group:
    """A group of an organisation's runners that the repository may use; `workflows` None: any workflow may."""

    name: str
    everywhere: bool = False
    public: bool = False
    workflows: tuple[str, ...] | None = None
    machines: list[Machine] = field(default_factory=list)


@dataclass(kw_only=True)
class Rules:
    """A ruleset over branches: `include` as GitHub writes them (~DEFAULT_BRANCH, refs/heads/x/*), rules of GitHub's shape,
    `apps` that pass by."""

    name: str
    include: tuple[str, ...]
    rules: tuple[dict[str, Any], ...]
    apps: tuple[int, ...] = ()
    active: bool = True


@dataclass(kw_only=True)
class Settings:
    """What GitHub's own pages would show. A new repository's values, as GitHub makes it in an organisation. `refused` are
    parts of paths that this server hides from everybody, with the status it answers."""

    private: bool = False
    archived: bool = False
    personal: bool = False
    enabled: bool = True
    allowed: str = "all"
    pinned: bool = False
    selected: dict[str, Any] = field(default_factory=lambda: {"github_owned_allowed": True, "verified_allowed": False,
                                                              "patterns_allowed": []})
    token: str = "read"
    may_approve: bool = False
    approval: str = "first_time_contributors"
    environments: dict[str, Environment] = field(default_factory=dict)
    secrets: list[str] = field(default_factory=list)
    shared_secrets: list[str] = field(default_factory=list)
    variables: Named = field(default_factory=dict)
    shared_variables: Named = field(default_factory=dict)
    states: Named = field(default_factory=dict)
    rulesets: dict[int, Rules] = field(default_factory=dict)
    protections: dict[str, dict[str, Any]] = field(default_factory=dict)
    machines: list[Machine] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    apps: dict[str, Named] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)

    def hides(self, path: str) -> int | None:
        """The status by which a path is refused; None where it is not."""
        return next((status for part, status in self.refused.items() if part in path), None)

    def rules_of(self, branch: str, default: str) -> list[tuple[int, Rules]]:
        """The active rulesets that hold for a name, whether or not a branch of that name exists."""
        return [(number, rules) for number, rules in self.rulesets.items() if rules.active and any(
            branch == default if name == "~DEFAULT_BRANCH" else name == "~ALL" or selected((name,), f"refs/heads/{branch}")
            for name in rules.include)]
