"""The one question of `check-imports`, over two trees: which modules are the engine's, which the consumer's, where it starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bot.errors import BadInput
from bot.model.upstream import ImportsChecked
from bot.model.uses import Pin
from bot.ports import Tree
from bot.upstream.engines import Engine
from bot.upstream.imports import packages, start
from bot.upstream.imports.check import check, consumer_of, scripts
from bot.upstream.imports.packages import Modules
from bot.upstream.imports.surveyed import Survey

KERNELS_RUN_ON = "cuda"
"""A kernel wheel is built for one platform, and those that an index has are for this one."""


def checked(engine: Engine, provider: Tree, consumer: Tree, survey: Survey, *, known: Mapping[str, Engine],
            names: tuple[str, str], pin: Pin | None = None, extra: Sequence[str] = (), platform: str | None = None,
            at: tuple[str, str] | None = None, say: Callable[[str], None] = lambda line: None) -> ImportsChecked:
    """Every import of the consumer that the engine does not answer. `known` are all engines, for where their checkouts keep
    modules; `extra` are modules that options of a recipe make the consumer run; `at` is the consumer's package and where a
    checkout keeps it, where that is known. BadInput where one of the two is not in its tree."""
    offered = provided(engine, provider, names[1])
    called = names_of(engine)
    places = [(one.module, one.folder) for one in known.values()]
    found = consumer_of(consumer, called, but=[engine.module], known=places, at=at)
    if not any(True for _ in found.sources()):
        raise BadInput("no Python module in it", "name the consumer's wheel, or the folder of its modules", file=names[0])
    entries = start.entries(found, called, extra)
    if not entries:
        mine = [one for one in known.values() if one.module in found.tops]
        run = [module for one in mine for module in starts(one)]
        entries = start.own(found, [*(module for one in mine for module in one.servers), *scripts(consumer, consumer.paths())], run)
        say(f"{names[0]} has no package for {engine.module}: its own modules, scripts and server count as its start")
    kernel = any(engine.module in one.kernels for one in known.values())
    return check(found, offered, survey, entries, names=names, pin=pin,
                 platform=platform or (KERNELS_RUN_ON if kernel else None))


def provided(engine: Engine, tree: Tree, name: str) -> Modules:
    """The engine's modules in its tree."""
    found = packages.of(tree, engine.module, engine.folder)
    if found is None:
        tops = packages.tops(tree.paths())
        there = f"it has {', '.join(tops[:8])}" if tops else "it has no Python module at all"
        raise BadInput(f"no module {engine.module} in it", f"{there}; correct NAME or PATH", file=name)
    return found


def names_of(engine: Engine) -> tuple[str, ...]:
    """The names under which others keep their part for an engine."""
    return tuple(dict.fromkeys((engine.module, *engine.called)))


def starts(engine: Engine) -> tuple[str, ...]:
    """The modules that an engine's own commands run (`python3 -m sglang.launch_server`)."""
    words = [command.split() for command in engine.commands]
    return tuple(line[line.index("-m") + 1] for line in words if "-m" in line[:-1])
