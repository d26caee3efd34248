"""What one survey of a source file says of its imports and of the names that it offers: plain records, kept by content."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

STAR = "*"
BODY, ELSE, FINALLY = -1, -2, -3
"""Parts of a `try` beside its handlers, which are numbered from 0."""


class Frame(Struct, frozen=True, array_like=True):
    """One thing around a statement. `try`: number `at` of the file's tries, in `part` of it. `if`: a condition that must hold
    (conditions.py); with a number `at` it has two sides, of which this is `part` (0, 1), and one of them runs. `with`: a context
    that swallows `catches`."""

    kind: str
    at: int = 0
    part: int = BODY
    test: Any = None
    catches: str = ""


class Handler(Struct, frozen=True, array_like=True):
    """An `except`: which failures of an import it catches (`any`, `module` for a missing module alone, `unsure`, or nothing),
    and whether it ends in a failure all the same (`raise`, `sys.exit`): in one of class `raises`, "" for the one it caught.
    `kinds` are the classes as written."""

    catches: str
    ends: bool
    kinds: tuple[str, ...] = ()
    raises: str = ""


class Try(Struct, frozen=True, array_like=True):
    """`mixed`: its body does more than to import, so that it may also fail in other ways."""

    handlers: tuple[Handler, ...]
    mixed: bool


class Statement(Struct, frozen=True, array_like=True):
    """An import. `names` None: `import module as bound`; else pairs of a name and what it is bound to here. `level` counts the
    leading dots; `call`: it is none, but `importlib.import_module("module")`."""

    module: str
    level: int
    names: tuple[tuple[str, str], ...] | None
    bound: str
    line: int
    lazy: bool
    frames: tuple[Frame, ...] = ()
    call: bool = False


class Want(Struct, frozen=True, array_like=True):
    """A name that is had by an import: of a module, or of an attribute of it."""

    module: str
    level: int
    name: str = ""


class Lazy(Struct, frozen=True, array_like=True):
    """A module-level `__getattr__`: the names it answers, and those of module-level tables; `open`: it may answer any name.
    `wants`: what a name needs, as places of which one must have it."""

    names: tuple[str, ...] = ()
    open: bool = False
    wants: tuple[tuple[str, tuple[Want, ...]], ...] = ()


class Module(Struct, frozen=True, array_like=True):
    """One file. `names` are bound here other than by an import; `exported` is its `__all__` (None: it has none), `exports_of` the
    modules whose own `__all__` it adds; `dynamic`: names are also bound by what only running it would show; `elsewhere`: it
    changes where its submodules are looked for; `registers` are modules that it puts into `sys.modules`."""

    statements: tuple[Statement, ...] = ()
    tries: tuple[Try, ...] = ()
    names: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    exported: tuple[str, ...] | None = None
    exports_all: bool = False  # `__all__` is computed: any name may be in it
    exports_of: tuple[str, ...] = ()
    lazy: Lazy | None = None
    dynamic: bool = False
    elsewhere: bool = False
    registers: tuple[str, ...] = ()
    flags: dict[str, Any] = {}
