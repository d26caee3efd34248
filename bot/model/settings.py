"""What a forge says about a repository's settings: facts for `bumpbot doctor`, names and states only, never a secret."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeVar

from msgspec import Struct

TokenKind = Literal["app", "default", "classic", "fine-grained", "installation"]
T = TypeVar("T")


class Unseen(Struct, frozen=True, kw_only=True):
    """Something this token may not look at: how the forge refused, and the permission that would show it."""

    why: str
    needs: str


Seen = T | Unseen


class Repository(Struct, frozen=True, kw_only=True):
    """`may_push` None: the forge did not say what the token's holder may do."""

    name: str
    default_branch: str
    private: bool
    archived: bool = False
    disabled: bool = False
    organisation: bool = False
    may_push: bool | None = None


class Holder(Struct, frozen=True, kw_only=True):
    """Whose token it is. `default` is a job's own, `installation` one that does not tell whether it is that or an App's.
    `scopes` are those of a classic token."""

    kind: TokenKind
    login: str = ""
    scopes: tuple[str, ...] = ()


class App(Struct, frozen=True, kw_only=True):
    """A GitHub App as registered: permission -> read, write or admin."""

    id: int
    slug: str
    client_id: str = ""
    permissions: Mapping[str, str] = {}


class ActionsPolicy(Struct, frozen=True, kw_only=True):
    """Which actions may run; `pinned` whether the forge demands full commit ids."""

    enabled: bool
    allowed: Literal["all", "local_only", "selected"] = "all"
    pinned: bool = False


class SelectedActions(Struct, frozen=True, kw_only=True):
    github_owned: bool = False
    verified: bool = False
    patterns: tuple[str, ...] = ()


class TokenDefaults(Struct, frozen=True, kw_only=True):
    """What a job's own token may do where its workflow does not say."""

    writes: bool
    may_approve: bool


class Environment(Struct, frozen=True, kw_only=True):
    """`serves`: any branch, the protected ones, or `branches` and `tags` by name pattern; `waits` for a reviewer or timer."""

    name: str
    serves: Literal["any", "protected", "named"]
    branches: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    waits: tuple[str, ...] = ()


class Runner(Struct, frozen=True, kw_only=True):
    """`busy`: it runs a job at this moment."""

    name: str
    labels: tuple[str, ...]
    online: bool
    busy: bool = False


class RunnerGroup(Struct, frozen=True, kw_only=True):
    """Self-hosted runners of an organisation that this repository may use; `workflows` None: any workflow may."""

    id: int
    name: str
    everywhere: bool
    public: bool
    workflows: tuple[str, ...] | None
    runners: tuple[Runner, ...] = ()


class BranchRule(Struct, frozen=True, kw_only=True):
    """One rule of a ruleset that holds for a branch; `reviews` is how many approvals a pull request needs there."""

    kind: str
    ruleset: int
    source: str = ""
    reviews: int = 0


class Ruleset(Struct, frozen=True, kw_only=True):
    """Who may pass by a ruleset: the token's holder, and the Apps by id (None: the token may not see the list)."""

    id: int
    name: str
    holder_passes: bool | None = None
    apps: tuple[int, ...] | None = None


class Protection(Struct, frozen=True, kw_only=True):
    """A classic branch protection."""

    reviews: int
    force_pushes: bool
    deletions: bool
    restricted: bool = False
    signed: bool = False
