"""All that the checks look at, gathered before they begin: what the files of the default branch say, and what the forge says."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from bot.layout import Layout
from bot.model.settings import (
    ActionsPolicy,
    App,
    BranchRule,
    Environment,
    Holder,
    Protection,
    Repository,
    Ruleset,
    Runner,
    RunnerGroup,
    Seen,
    SelectedActions,
    TokenDefaults,
)

# What wake.yml and action.yml agree on.
ENVIRONMENT, APP_ID, MODE = "bumpbot", "BUMPBOT_APP_ID", "BUMPBOT_MODE"
# What the key is called where no workflow says it.
KEY = "BUMPBOT_APP_PRIVATE_KEY"
LEDGER = "bumpbot/ledger"


class Input(Struct, frozen=True, kw_only=True):
    """One input that a workflow declares for its dispatch."""

    required: bool = False
    has_default: bool = False
    kind: str = "string"
    options: tuple[str, ...] = ()


class JobFile(Struct, frozen=True, kw_only=True):
    """A job as its file states it. `wakes`: it runs the bot. `uses` are actions and workflows, `secrets` those that it names
    anywhere, `tokens` those of them that it gives to a field for a key or token; `checkouts` are refs that it checks out,
    `variables` the configuration variables that it names."""

    name: str
    environment: str = ""
    wakes: bool = False
    uses: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()
    checkouts: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()


class WorkflowFile(Struct, frozen=True, kw_only=True):
    """A workflow file; `fault` says why it could not be read, and then nothing else is known. `inputs` None: not dispatchable."""

    path: str
    fault: str = ""
    triggers: tuple[str, ...] = ()
    inputs: Mapping[str, Input] | None = None
    jobs: tuple[JobFile, ...] = ()

    @property
    def file(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def wakes(self) -> bool:
        """Whether one of its jobs runs the bot."""
        return any(job.wakes for job in self.jobs)

    def holding(self, keys: tuple[str, ...]) -> tuple[JobFile, ...]:
        """The jobs that name one of these secrets."""
        return tuple(job for job in self.jobs if set(job.secrets) & set(keys))


class Wanted(Struct, frozen=True, kw_only=True):
    """A recipe, its image, and the labels of the runner that it asks for."""

    recipe: str
    image: str
    labels: tuple[str, ...]


class Files(Struct, frozen=True, kw_only=True):
    """The default branch's files; `actions` are the repository's own, as workflows of one job. `broken` are recipes that do not
    hold, each with its fault."""

    actions: Mapping[str, WorkflowFile] = {}
    workflows: Mapping[str, WorkflowFile] = {}
    wanted: tuple[Wanted, ...] = ()
    broken: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The secrets that the bot acts with, by the workflows that run it; the usual name where none says it."""
        named = {name for one in self.workflows.values() for job in one.jobs if job.wakes for name in job.tokens}
        return tuple(sorted(named)) or (KEY,)


class Guards(Struct, frozen=True, kw_only=True):
    """What guards one branch (or name of a branch): rules with their rulesets by number, and a classic protection."""

    branch: str
    rules: Seen[tuple[BranchRule, ...]]
    protection: Seen[Protection | None]
    rulesets: Mapping[int, Seen[Ruleset]] = {}


class Forge(Struct, frozen=True, kw_only=True):
    """What the forge told this token. None: not asked, because something before it made the question moot."""

    repository: Repository
    holder: Holder
    app: Seen[App] | None
    workflows: Seen[Mapping[str, str]]
    actions: Seen[ActionsPolicy]
    selected: Seen[SelectedActions] | None
    defaults: Seen[TokenDefaults]
    approval: Seen[str] | None
    environment: Seen[Environment | None]
    held: Seen[tuple[str, ...]] | None
    secrets: Seen[tuple[str, ...]]
    variables: Seen[Mapping[str, str]]
    own_variables: Seen[Mapping[str, str]] | None
    labels: Seen[tuple[str, ...]]
    runners: Seen[tuple[Runner, ...]]
    groups: Seen[tuple[RunnerGroup, ...]]
    base: Guards
    bumps: Guards
    ledger: Guards | None


class Facts(Struct, frozen=True, kw_only=True):
    """`page` is the repository's address for people; `absent` why there is no `forge`; `ours`: the token is the bot's own, and
    not that of a person who looks. `layout` None: it does not hold, and `layout_fault` says why. `ledger_fault`: why the
    ledger's own repository cannot be read. `images`: reference -> trouble, empty where it resolves; `unanswered` are those
    whose registry did not answer."""

    page: str
    ours: bool
    files: Files
    layout: Layout | None
    layout_source: str = ""
    layout_fault: str = ""
    forge: Forge | None = None
    absent: str = ""
    base_exists: bool | None = None
    mode: str | None = None
    ledger_place: str = ""
    ledger_fault: str = ""
    images: Mapping[str, str] | None = None
    unanswered: tuple[str, ...] = ()
