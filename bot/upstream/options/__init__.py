"""What an engine does with what a recipe asks of it: options, variables, checks, read from two of its trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from bot.model.upstream import Commit, OptionChanged, OptionsChecked
from bot.model.uses import Used, Uses
from bot.upstream.engines import Engine
from bot.upstream.options import compare, reach, settings
from bot.upstream.options.facts import Surveyed
from bot.upstream.options.gather import root, surveyed

__all__ = ["Surveyed", "checked", "root", "surveyed"]

Touched = Callable[[str, str], Commit | None]
_WORTH_A_COMMIT = ("removed", "renamed", "ambiguous", "default", "guard", "choice")
MAX_ASKED = 12


def checked(uses: Uses, name: str, engine: Engine, old: Surveyed | None, new: Surveyed, *, vendor: str = "",
            models: Mapping[str, str] | None = None, touched: Touched | None = None) -> OptionsChecked:
    """Everything that the recipe passes to one engine. `vendor` is `cuda` or `rocm` where the hardware is known, `models` the
    recipe's model as `{"model": name}`; `touched` tells the newest commit that changed how often a text stands in a file."""
    mine = [one for one in uses.options if _reads(one, engine)]
    variables = [one for one in uses.environment if one.name.startswith(engine.prefixes) and not one.program]
    walks = [reach.walked(new, start, vendor=vendor, models=models or {}) for start in settings.starts(mine, new)]
    found = [*compare.options(mine, engine, old, new), *compare.defaults(mine, engine, old, new, vendor),
             *_guards(mine, old, walks, vendor, models or {}), *_environment(variables, engine, old, new)]
    asked = 0
    for at, one in enumerate(found):
        if touched and one.what in _WORTH_A_COMMIT and asked < MAX_ASKED:
            asked += 1
            found[at] = replace(one, commit=_commit(one, engine, touched))
    return OptionsChecked(engine=name, changed=tuple(found), parsers=new.read, counted=len(mine) + len(variables),
                          checks=len(frozenset().union(*(one.checks for one in walks))), decided=_decided(walks))


def _reads(used: Used, engine: Engine) -> bool:
    """Whether the engine's own parser sees it: its server, or a program in front that hands it on."""
    if not used.program:
        return True
    part = used.program.rpartition(".")[2]
    return part in (engine.module, *engine.called) or f"{part}_config" in engine.keys


def _decided(walks: Sequence[reach.Walked]) -> int:
    """How many checks the settings decide on every start that has them."""
    every = frozenset().union(*(one.checks for one in walks))
    return len(every - frozenset().union(*(one.checks - one.decided for one in walks)))


def _guards(mine: Sequence[Used], old: Surveyed | None, walks: Sequence[reach.Walked], vendor: str,
            models: Mapping[str, str]) -> Iterator[OptionChanged]:
    """Checks that end a start. One that would have ended it with the old engine too is not understood: the recipe ran."""
    before = {one.key for start in (settings.starts(mine, old) if old else ())
              for one in reach.walked(old, start, vendor=vendor, models=models).ended} if old else set()
    seen: set[str] = set()
    for walk in walks:
        for one in walk.ended:
            if one.key not in before and one.at not in seen:
                seen.add(one.at)
                yield OptionChanged(used=one.used[0], what="guard", at=one.at, said=one.said, test=one.test, beside=one.used[1:],
                                    certain=one.sure)


def _environment(variables: Sequence[Used], engine: Engine, old: Surveyed | None, new: Surveyed) -> Iterator[OptionChanged]:
    """Variables that the new engine does not read any more: they are ignored there. Only where both trees say all of theirs. One
    that the engine reads under a newer name is that one."""
    named = {one.name: frozenset(engine.spellings(one.name)) for one in variables}
    missed = [one for name, one in {one.name: one for one in variables}.items() if named[name].isdisjoint(new.variables)]
    if not missed or not new.read:
        return
    told = new.mentioned("variables")
    before = old.mentioned("variables") if old else None
    for one in missed:
        if told is None:
            yield OptionChanged(used=one, what="unread", said="a file of the engine could not be read")
        elif named[one.name].isdisjoint(told):
            was = before is not None and old is not None and not named[one.name].isdisjoint((*before, *old.variables))
            at = next((old.variables[name] for name in sorted(named[one.name]) if name in old.variables), "") if old else ""
            if was or before is not None:
                yield OptionChanged(used=one, what="removed" if was else "missing", old=one.name, at=at)


def _commit(one: OptionChanged, engine: Engine, touched: Touched) -> Commit | None:
    """Who did it: the newest commit that changed how often the name stands in the file where it was, or is."""
    path = one.at.rpartition(":")[0]
    text = one.old if one.what in ("removed", "renamed") else one.new
    text = one.used.name.rpartition(".")[2] if one.what == "default" else text
    # A check can come under its old message with another condition, or under its old condition with another limit in the message.
    texts = (one.test, one.said[:60]) if one.what == "guard" else (text,)
    file = f"{engine.folder}/{path}" if engine.folder else path
    return next((found for text in texts if path and text and (found := touched(file, text))), None)
