"""Nouns for an upstream's history and files: what lies between two images, and what its sources say of a recipe."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from bot.model.text import Text
from bot.model.uses import Carried, Pin, Used


class Commit(Struct, frozen=True, kw_only=True):
    sha: str
    title: str
    date: str
    pull: int | None = None
    parents: tuple[str, ...] = ()


class Touch(Struct, frozen=True, kw_only=True):
    """A commit that touches what the recipe uses: which of its words, and in which files; `rank` is higher for what matters more.
    The title is somebody else's text: it is shown on a terminal and never on GitHub (SECURITY 8)."""

    commit: Commit
    words: tuple[str, ...]
    files: tuple[str, ...] = ()
    rank: float = 0.0


Doubt = Literal["rewritten", "shallow", "gone", "impostor", "ambiguous", "truncated", "unreachable"]


class Comparison(Struct, frozen=True, kw_only=True):
    """What lies between two commits of one repository; `merge_base` None when the histories share nothing, `ahead` and `behind`
    None where nobody counted. `touching` are the commits that concern the recipe, the most important first; `doubts` say what keeps
    the comparison from being whole."""

    repository: str
    base: str
    head: str
    merge_base: str | None
    ahead: int | None
    behind: int | None
    commits: tuple[Commit, ...] = ()
    url: str = ""
    touching: tuple[Touch, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    concerning: int = 0  # how many commits touch what the recipe uses; `touching` shows the first of them


class MissingImport(Struct, frozen=True, kw_only=True):
    """An import that the other package does not answer (CONTRACTS `check-imports`). `module` and `name` as written in the
    statement; `name` None when the module itself is missing; `needs` are
    settings without which it is not executed (`config.chat_processor=vllm`)."""

    module: str
    name: str | None
    file: str
    line: int
    guarded: bool
    lazy: bool
    typing: bool
    on_start_path: bool
    needs: tuple[str, ...] = ()

    @property
    def stops(self) -> bool:
        """Whether the consumer cannot start without it."""
        return self.on_start_path and not (self.guarded or self.lazy or self.typing)


class ImportsChecked(Struct, frozen=True, kw_only=True):
    """The imports of one consumer against one provider, as people name both (`dynamo 1.1.0`, `sglang 0.5.19`). `before` is what the
    old provider lacked already, None where it was not looked at; `unread` are files that could not be parsed, and `unread_start`
    those of them on the start path: there nothing is known, and never "nothing missing". `unknown` are
    names asked for unguarded on the start path that only running the provider would show. `counted` imports were looked at.
    `asked` are options of the consumer that a variable of the recipe sets, with the variable's name."""

    consumer: str
    provider: str
    pin: Pin | None = None
    missing: tuple[MissingImport, ...] = ()
    before: tuple[MissingImport, ...] | None = None
    unread: tuple[str, ...] = ()
    unread_start: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    counted: int = 0
    fits: str | None = None  # the newest version or commit of the consumer that misses nothing, where it was looked for
    asked: tuple[tuple[str, Used], ...] = ()
    kernel: bool = False  # the consumer is the engine, the provider its own kernel wheel


class OptionChanged(Struct, frozen=True, kw_only=True):
    """What the new engine does with something that the recipe uses. `missing` in both trees is no change of this image; `guard`:
    a check of the engine raises for these settings; `unread`: the parser could not be understood there."""

    used: Used
    what: Literal["removed", "renamed", "ambiguous", "default", "guard", "choice", "missing", "unread"]
    old: str | None = None
    new: str | None = None
    candidates: tuple[str, ...] = ()
    at: str = ""  # file:line in the engine's tree
    commit: Commit | None = None
    said: str = ""  # the guard's own message: somebody else's text
    test: str = ""  # the line with the guard's condition, likewise
    beside: tuple[Used, ...] = ()  # the other settings that the guard looks at
    works: bool = False  # renamed, and the old name still does it
    certain: bool = True  # a guard: False where a default decided, which something else may change


class OptionsChecked(Struct, frozen=True, kw_only=True):
    """All that the recipe uses against the new engine's parsers. `parsers` are the files that were understood, `checks` counts the
    checks of its arguments and configurations, `decided` those of which the recipe's settings tell whether they raise."""

    engine: str
    changed: tuple[OptionChanged, ...] = ()
    parsers: tuple[str, ...] = ()
    counted: int = 0
    checks: int = 0
    decided: int = 0


class ArchRefused(Struct, frozen=True, kw_only=True):
    """A list or an assertion of the engine that leaves the hardware out. `hard`: it raises on what the recipe runs; else it is only
    one of several kernels."""

    hardware: str
    at: str
    said: str
    hard: bool
    commit: Commit | None = None
    new: bool = True  # the old tree did not have it
    old_known: bool = True  # a list: the present image's own was read


class Change(Struct, frozen=True, kw_only=True):
    """A change of an upstream that an image must (or must not) have: a commit, a pull request, or a patch id, and who says so."""

    repository: str
    commit: str | None = None
    pull: int | None = None
    patch_id: str | None = None
    wanted: Literal["must-have", "must-not-have"]
    why: str = ""

    @property
    def text(self) -> str:
        """`vllm-project/vllm#54853`, or the commit."""
        return f"{self.repository}#{self.pull}" if self.pull else f"{self.repository}@{(self.commit or self.patch_id or '')[:12]}"


class Held(Struct, frozen=True, kw_only=True):
    """Whether one image or pin holds a change, and by what that was seen; None: nobody can tell."""

    change: Change
    holds: bool | None
    by: Literal["ancestry", "pull", "patch-id", "unknown"] = "unknown"
    commit: str | None = None


class Choice(Struct, frozen=True, kw_only=True):
    """One published tag or pin and how it stands to every change that was asked for. `fits` None: unknown for one at least."""

    name: str
    commit: str | None
    held: tuple[Held, ...]

    @property
    def fits(self) -> bool | None:
        """Whether it has all that it must and nothing that it must not."""
        told = [None if one.holds is None else one.holds == (one.change.wanted == "must-have") for one in self.held]
        return False if False in told else None if None in told else True


class Contained(Struct, frozen=True, kw_only=True):
    """Must-have and must-not-have over all that is published, newest first. `best` is the newest that fits. `clash`: none does,
    because what must be there came after what must not; each range in words of tags."""

    of: str  # the repository of images, or the pin
    candidate: Choice | None = None
    choices: tuple[Choice, ...] = ()
    best: str | None = None
    clash: tuple[str, ...] = ()


class CarriedHeld(Struct, frozen=True, kw_only=True):
    """A carried patch and the upstream change that it stands for; `holds` True: the candidate contains it, and it can go."""

    carried: Carried
    held: tuple[Held, ...] = ()

    @property
    def holds(self) -> bool | None:
        told = [one.holds for one in self.held]
        return None if not told or None in told else all(told)


class Sibling(Struct, frozen=True, kw_only=True):
    """A recipe of this repository that runs the candidate's tag or digest already: with which pins, since when, and which evals it
    has with it."""

    recipe: str
    image: str
    same: Literal["digest", "tag"]
    hardware: str
    since: str | None = None
    pins: tuple[str, ...] = ()
    evals: tuple[Text, ...] = ()
