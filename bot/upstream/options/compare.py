"""What the new engine does with each option that the recipe passes, against the old one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from bot.model.upstream import OptionChanged
from bot.model.uses import Used, Written
from bot.upstream.engines import Engine
from bot.upstream.options.facts import Option, Surveyed, dashed
from bot.upstream.options.lookup import Meant, meant
from bot.upstream.options.settings import read

# What decides how much memory is left, and which kernels run: a new default there is news to a recipe that does not set it.
MATTERS = re.compile(r"mem(ory)?[-_.]|[-_.]mem|graph|hip|backend|max[-_]running|max[-_]num|chunked|kv[-_]cache|eager|cudagraph|"
                     r"compil|offload|swa|prefix[-_]caching|overlap|async[-_]scheduling")
MEMORY = re.compile(r"mem(ory)?[-_.]|[-_.]mem|graph|max[-_]running|max[-_]num|chunked|kv[-_]cache|eager|cudagraph|prefill")
_DULL = re.compile(r"layout|port|host|path|log|url|name|seed|watchdog|timeout|api|ssl|metrics|trace|help|parser")


def options(used: Sequence[Used], engine: Engine, old: Surveyed | None, new: Surveyed) -> Iterator[OptionChanged]:
    """One answer for each name and process; what is as it was says nothing."""
    seen: set[tuple[str, str, str | None]] = set()
    for one in sorted(used, key=lambda one: one.conditional):
        key = (dashed(one.name), one.program, one.value)
        if key not in seen:
            seen.add(key)
            yield from _one(one, engine, old, new)


def _one(used: Used, engine: Engine, old: Surveyed | None, new: Surveyed) -> Iterator[OptionChanged]:
    now = meant(new, used.name)
    before = meant(old, used.name) if old else None
    if now.one is not None:
        yield from _there(used, before, now.one, exact=now.exact)
    elif now.options:
        yield _ambiguous(used, before, now)
    elif before and before.options:
        yield _gone(used, before, old, new)
    elif used.program:
        return  # an option of the program in front, which this engine knew as little before
    elif new.unread or not new.read:
        yield OptionChanged(used=used, what="unread", said="parsers of the engine could not be read")
    elif before is not None:
        yield OptionChanged(used=used, what="missing")
    else:
        yield OptionChanged(used=used, what="unread", said="the new engine does not know it; what the old one knew is not told")


def _there(used: Used, before: Meant | None, now: Option, *, exact: bool) -> Iterator[OptionChanged]:
    was = before.one if before else None
    if now.refused and was and not was.refused:
        yield OptionChanged(used=used, what="removed", old=used.name, new=now.instead or None, at=now.at, said=now.refused)
        return
    if was and not was.deprecated and (now.deprecated or (before and before.exact and not exact)):
        instead = now.instead if exact else now.main
        yield OptionChanged(used=used, what="renamed", old=used.name, new=instead or None, at=now.at, works=True)
    if now.choices is not None and was and was.choices is not None and used.value is not None:
        value = read(used.value)
        known = {str(one) for one in now.choices}
        if str(value) not in known and used.value not in known and {str(value), used.value} & {str(one) for one in was.choices}:
            yield OptionChanged(used=used, what="choice", old=used.value, candidates=tuple(map(str, now.choices[:12])), at=now.at)


def _ambiguous(used: Used, before: Meant | None, now: Meant) -> OptionChanged:
    names = tuple(option.main for option in now.options)
    was = before.one if before else None
    at = now.options[0].at
    if was is None:
        return OptionChanged(used=used, what="missing" if before is not None else "unread", candidates=names, at=at,
                             said="it is the beginning of several options")
    instead = _successor(was, now.options)
    return OptionChanged(used=used, what="ambiguous", old=was.main, new=instead.main if instead else None, candidates=names, at=at)


def _gone(used: Used, before: Meant, old: Surveyed | None, new: Surveyed) -> OptionChanged:
    assert old is not None
    was = before.one or before.options[0]
    if why := _doubtful(was, old, new):
        return OptionChanged(used=used, what="unread", old=was.main, said=why)
    fresh = [option for option in dict.fromkeys(_distinct(new)) if _same(option, was) or not _known(old, option)]
    instead = _successor(was, fresh)
    near = tuple(option.main for option in fresh if _near(option.main, was.main))[:3]
    return OptionChanged(used=used, what="renamed" if instead else "removed", old=was.main, new=instead.main if instead else None,
                         candidates=near, at=was.at)


def _doubtful(was: Option, old: Surveyed, new: Surveyed) -> str:
    """Why an option that was not found in the new tree may be there all the same; "" where it is gone."""
    if new.unread or not new.read:
        return "parsers of the engine could not be read"
    if new.open:
        return "options are made at run time in a way that was not followed"
    if was.owner and not was.names[0].startswith("-"):
        return ""
    told, before = new.mentioned("flags"), old.mentioned("flags")
    if told is None or before is None:
        return "a file of the engine could not be read"
    for name in was.names:
        for spelling in {name, name.replace("-", "_").replace("__", "--", 1)}:
            if told.get(spelling, frozenset()) - before.get(spelling, frozenset()):
                return "its name stands in another file of the engine"
    return ""


def _successor(was: Option, now: Sequence[Option]) -> Option | None:
    """The one option that certainly took its place: of the same destination, or with the same help."""
    found = [option for option in now if _same(option, was)]
    if not found and len(was.help) > 20:
        found = [option for option in now if option.help and _alike(option.help, was.help)]
    return found[0] if len(found) == 1 else None


def _same(option: Option, was: Option) -> bool:
    return option.dest == was.dest and not option.refused


def _known(survey: Surveyed, option: Option) -> bool:
    return any(survey.option(name) for name in option.names)


def _alike(one: str, other: str) -> bool:
    return SequenceMatcher(None, one, other, autojunk=False).ratio() > 0.9


def _near(one: str, other: str) -> bool:
    return SequenceMatcher(None, one, other).ratio() > 0.75


def _distinct(survey: Surveyed) -> list[Option]:
    return list({(option.names, option.dest): option for option in survey.options.values()}.values())


def defaults(used: Sequence[Used], engine: Engine, old: Surveyed | None, new: Surveyed, vendor: str) -> Iterator[OptionChanged]:
    """Defaults that changed, of what matters and the recipe leaves to the engine."""
    if old is None:
        return
    taken = {option.dest for one in used for option in meant(new, one.name).options}
    taken |= {option.dest for one in used for option in meant(old, one.name).options}
    for option in _distinct(new):
        was = old.option(option.main)
        if was and option.dest not in taken and _matters(option.main) and None not in (was.default, option.default) \
                and was.default != option.default and not option.deprecated:
            yield _default(option.main, was.default[0], option.default[0], option.at)  # type: ignore[index]
    for name, (told, at) in new.settled.items():
        before = old.settled.get(name)
        values = _platform(before[0], told, vendor) if before else None
        flag = _flag(name, new)
        if values and flag and values[0] != values[1] and _matters(flag.lower()) and not _set(name, used, taken):
            yield _default(flag, *values, at)


def _matters(name: str) -> bool:
    return bool(MATTERS.search(name)) and not _DULL.search(name)


def _platform(old: dict[str, object], new: dict[str, object], vendor: str) -> tuple[object, object] | None:
    """Old and new value on the recipe's platform; where nobody knows that, only what is one on all."""
    if vendor:
        return (old[vendor], new[vendor]) if vendor in old and vendor in new else None
    one = {str(value) for value in old.values()}, {str(value) for value in new.values()}
    return (next(iter(old.values())), next(iter(new.values()))) if len(one[0]) == len(one[1]) == 1 else None


def _flag(name: str, new: Surveyed) -> str | None:
    """The option through which a configuration is given: `--cuda-graph-config.prefill.backend`."""
    cls, _, rest = name.partition(".")
    option = next((one for one in new.options.values() if one.dest.replace("_", "") == cls.lower()), None)
    return f"{option.main}.{rest}" if option else None


def _set(name: str, used: Sequence[Used], taken: set[str]) -> bool:
    """Whether the recipe sets that key, in JSON or by an option made of the same words (`cuda_graph_backend_prefill`)."""
    cls, _, rest = name.partition(".")
    words = set(rest.replace(".", "_").split("_"))
    if any(words <= set(dest.split("_")) for dest in taken):
        return True
    own = [one for one in used if dashed(one.name).lstrip("-").partition(".")[0].replace("-", "") == cls.lower()]
    return any(one.name.endswith(rest) or _inside(one.value, rest.split(".")) for one in own)


def _inside(text: str | None, path: Sequence[str]) -> bool:
    tree = read(text or "")
    for step in path:
        if not isinstance(tree, dict):
            return text is None
        if step not in tree:
            return False
        tree = tree[step]
    return True


def _default(name: str, old: object, new: object, at: str) -> OptionChanged:
    path, _, line = at.rpartition(":")
    return OptionChanged(used=Used(kind="option", name=name, value=None, at=Written(file=path, line=int(line))), what="default",
                         old=str(old), new=str(new), at=at)

