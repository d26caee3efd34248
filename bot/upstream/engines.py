"""What is known of each engine's sources: where its modules, parsers and environment stand. Data of knowledge/engines.yaml."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from bot import strict


class Engine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One engine. `repositories` are `owner/name` of its sources, `module` its package and `package` its name on an index; `folder`
    is where modules lie in a source tree; `parsers` and `environment` are files (from the module's parent) that define its command
    line and its variables, the first that is there counts first; `checks` are folders and files whose classes refuse settings;
    `renamed` is what it makes of variables that begin in an older way; `kernels` maps modules it imports to the package that ships
    them; `keys` are the names under which recipes hold its options; `commands` are words that start its server, `servers` the
    modules that these come to only by a call; `configs` are its options that name a file with more settings, and `settings` the
    class that these are fields of (there a recipe's `keys` hold fields too, not options); `called` are other words for it: in a
    recipe's framework, and of the part that a package which uses it keeps for it."""

    repositories: tuple[str, ...]
    module: str
    package: str
    folder: str = ""
    parsers: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    renamed: dict[str, str] = {}
    kernels: dict[str, str] = {}
    keys: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    configs: tuple[str, ...] = ()
    settings: str = ""
    called: tuple[str, ...] = ()

    def spellings(self, variable: str) -> tuple[str, ...]:
        """The names under which a variable is read: its own, and the newer one that the engine makes of it (`renamed`)."""
        fitting = (new + variable.removeprefix(old) for old, new in self.renamed.items() if variable.startswith(old))
        return variable, *fitting


def load(text: str, *, file: str) -> Mapping[str, Engine]:
    """The engines by name; BadInput with line and key for what does not hold."""
    return strict.load(dict[str, Engine], text, file=file)


def engine_of(engines: Mapping[str, Engine], repository: str | None) -> str | None:
    """The engine whose sources are `owner/name`; None where none is known."""
    known = (name for name, engine in engines.items()
             if repository and repository.lower() in (one.lower() for one in engine.repositories))
    return next(known, None)
