"""What is known of one engine's tree: its options, the fields behind them, its variables and checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from msgspec import Struct, field


class Option(Struct, frozen=True, kw_only=True):
    """One option. `default` and `choices` are None where nobody can read them; `default` is a tuple of the one value else, since
    None is a value. `switch`: it takes no value. `instead`: what its deprecation names; `refused`: passing it ends the start."""

    names: tuple[str, ...]
    dest: str
    at: str
    default: tuple[Any, ...] | None = None
    choices: tuple[Any, ...] | None = None
    switch: bool = False
    negatable: bool = False
    help: str = ""
    deprecated: bool = False
    instead: str = ""
    refused: str = ""
    owner: tuple[str, str] | None = None
    kind: str = ""

    @property
    def main(self) -> str:
        """The name that people write: the first long one."""
        return next((name for name in self.names if name.startswith("--")), self.names[0])


class Class(Struct, frozen=True, kw_only=True):
    """A class with its fields, those of its bases included."""

    name: str
    file: str
    fields: dict[str, dict[str, Any]]
    strict: bool = False
    bases: tuple[str, ...] = ()


class Index(Struct, kw_only=True):
    """The options by what else they are known by: destination, attribute, the field that they are made of, its class."""

    dests: dict[str, Option] = field(default_factory=dict)
    attributes: dict[str, str] = field(default_factory=dict)
    owned: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    owners: set[str] = field(default_factory=set)
    flat: set[str] = field(default_factory=set)
    named: dict[str, str | None] = field(default_factory=dict)


class Surveyed(Struct, kw_only=True):
    """One tree. `parsers` are the engine's own parser files, `read` the files that were understood, `unread` those that were not:
    what they define is unknown. `open` are places where options are made at run time in a way that nobody followed.
    `settled`
    are the defaults of configurations by class and key (`CudaGraphConfig.prefill.backend`), by platform, with their place.
    `mentioned` tells all names of a kind (`flags`,
    `variables`) that stand anywhere in the engine's sources, with the files; it is asked only where a name is missed."""

    engine: str
    options: dict[str, Option] = field(default_factory=dict)
    classes: dict[str, Class] = field(default_factory=dict)
    functions: list[dict[str, Any]] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    constants: dict[str, list[Any]] = field(default_factory=dict)
    settled: dict[str, tuple[dict[str, Any], str]] = field(default_factory=dict)
    parsers: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    abbreviates: bool = True
    registry: bool = False
    mentioned: Callable[[str], Mapping[str, Set[str]] | None] = lambda kind: None

    known: Index | None = None

    @property
    def index(self) -> Index:
        """The options by destination and owner, put together once."""
        if self.known is None:
            made = Index()
            for one in self.options.values():
                made.dests.setdefault(one.dest, one)
                for name in one.names:  # a field may be called as any of an option's names
                    made.attributes.setdefault(name.lstrip("-").replace("-", "_"), one.dest)
                made.flat.add(one.dest.replace("_", ""))
                if one.owner:
                    made.owned.setdefault(one.owner, set()).add(one.dest)
                    made.owners.add(one.owner[0])
            made.attributes |= {dest: dest for dest in made.dests}
            self.known = made
        return self.known

    def option(self, name: str) -> Option | None:
        """The option of that name; dashes and underscores are one to the parsers of most engines."""
        return self.options.get(dashed(name))


def dashed(name: str) -> str:
    """`--tp_size` as `--tp-size`; a key behind a dot stays as it is, and so does what has one dash."""
    head, dot, rest = name.partition(".")
    return head.replace("_", "-") + dot + rest


Survey = Callable[[str, Any, Sequence[str]], Mapping[str, Any]]
