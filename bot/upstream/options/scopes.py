"""What names mean where a condition stands, and what is known of objects that an engine makes of its arguments."""

from __future__ import annotations

from typing import Any, Protocol

from msgspec import Struct, field

ARGUMENTS = "*"
"""The class of parsed arguments, whatever an engine calls it: its attributes are the options' destinations."""


class Unknown(Exception):
    """Nobody can tell."""


class Scope(Struct, kw_only=True):
    """What names mean in a function: `self` and parameters by the class of what they hold, or by what the caller gave them, as an
    expression of its own scope."""

    names: dict[str, str] = field(default_factory=dict)
    values: dict[str, tuple[list[Any], Scope]] = field(default_factory=dict)


class Made(Protocol):
    """What the objects hold that an engine makes of its arguments."""

    def makes(self, cls: str) -> bool:
        """Whether one of that class is made of them."""
        ...

    def value(self, cls: str, name: str) -> Any:
        """An attribute of such an object. Raises Unknown."""
        ...
