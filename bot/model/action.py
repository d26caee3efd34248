"""What the bot may do: a closed set. Each action is one port call, idempotent, and carries what must still hold."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from msgspec import Struct

from bot.model.bump import Approval, Asked, Ended, Evidence, HeadWhy, Update, Wanted
from bot.model.record import Record


class _Action(Struct, frozen=True, kw_only=True, tag_field="do", forbid_unknown_fields=True):
    """`gpu_hours` of those that spend are what they are expected to hold: promised in the ledger with the claim."""


class Push(_Action, frozen=True, kw_only=True, tag="push"):
    """A commit on the bump's branch. `expected` is the branch's head before (None: the branch does not exist)."""

    why: HeadWhy
    expected: str | None
    repair: Wanted | None = None
    base_tip: str | None = None


class OpenPull(_Action, frozen=True, kw_only=True, tag="open-pull"):
    """A draft pull request for the branch; its body is the record's."""

    head: str
    record: Record


class Say(_Action, frozen=True, kw_only=True, tag="say"):
    """A comment, found again by its slot and edited in place; slot "body" is our part of the pull request's body."""

    slot: str
    record: Record
    update: Update | None = None


class Dispatch(_Action, frozen=True, kw_only=True, tag="dispatch"):
    """Starts a workflow of the default branch for one exact head. The nonce is a function of (bump, stage, attempt, head)."""

    workflow: str
    ref: str
    inputs: dict[str, str]
    nonce: str
    head: str
    gpu_hours: float = 0.0


class Rerun(_Action, frozen=True, kw_only=True, tag="rerun"):
    """The failed jobs of a finished run again; `attempt` is the one that failed, so that a second call does nothing."""

    run: int
    attempt: int
    gpu_hours: float = 0.0


class Cancel(_Action, frozen=True, kw_only=True, tag="cancel"):
    run: int


class Label(_Action, frozen=True, kw_only=True, tag="label"):
    """Puts a label on, after the head was read again and is still `head`."""

    name: str
    head: str
    gpu_hours: float = 0.0


class Unlabel(_Action, frozen=True, kw_only=True, tag="unlabel"):
    name: str


class SetDraft(_Action, frozen=True, kw_only=True, tag="draft"):
    draft: bool
    head: str


class ClosePull(_Action, frozen=True, kw_only=True, tag="close"):
    """Closes the pull request; the branch stays."""


class Reopen(_Action, frozen=True, kw_only=True, tag="reopen"):
    """Opens the pull request of a bump that has ended once more, where its head is still `head`; the command that asked for
    it is remembered with it."""

    head: str
    by: str
    at: datetime
    comment: int


class Keep(_Action, frozen=True, kw_only=True, tag="keep"):
    """Puts the evidence of a bump that is over into the archive beside the ledger, under the hash of the claim that says so."""


class React(_Action, frozen=True, kw_only=True, tag="react"):
    """A reaction to a comment: that a command was seen and obeyed, or was not. The forge keeps one of a kind."""

    comment: int
    content: Literal["+1", "-1", "eyes", "confused"]


class Remember(_Action, frozen=True, kw_only=True, tag="remember"):
    """A fact that cannot be derived again."""

    fact: Approval | Asked | Ended


Action = (Push | OpenPull | Say | Dispatch | Rerun | Cancel | Label | Unlabel | SetDraft | ClosePull | Reopen | Keep | React
          | Remember)


def tag(action: Action) -> str:
    """The action's word, as the ledger writes it and the glossary tells it."""
    return str(action.__struct_config__.tag)


class Result(Struct, frozen=True, kw_only=True):
    """What came of the action at `index` of its claim. Not ok means: looked again, did not act, `detail` says why;
    `withheld`: the mode does not allow it; `refused`: by a rule, which another try does not change."""

    index: int
    ok: bool
    withheld: bool = False
    refused: bool = False
    detail: str = ""
    head: str | None = None
    pull: int | None = None
    comment: int | None = None
    run: int | None = None
    evidence: Evidence | None = None
