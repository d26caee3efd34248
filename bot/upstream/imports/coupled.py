"""The imports check of a plan: each part that is pinned beside the engine, and the engine against its own kernel wheel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace
from packaging.version import InvalidVersion, Version

from bot.errors import BadInput
from bot.model.upstream import ImportsChecked, MissingImport
from bot.model.uses import Pin, Used, Uses, Written
from bot.ports import Tree
from bot.upstream.engines import Engine
from bot.upstream.imports import declared, pins
from bot.upstream.imports.asked import KERNELS_RUN_ON, checked, names_of
from bot.upstream.imports.check import consumer_of
from bot.upstream.imports.surveyed import Survey

TRIES = 4
# Under an earlier name on the index: sglang-kernel was sgl-kernel until the spring of 2026.
_OLDER = {"sglang-kernel": "sgl-kernel"}


def coupled(pin: Pin, consumer: Tree, engine: Engine, new: Tree, old: Tree | None, survey: Survey, *, known: Mapping[str, Engine],
            called: str, uses: Uses, folder: str = "", vendor: str | None = None) -> ImportsChecked:
    """What a pinned part imports of the engine and does not find in its new tree; `before` is what the old one lacked. `called`
    names the new engine for people, `folder` is where a checkout of the part keeps its modules, `vendor` what the GPUs are (cuda,
    rocm). An option of the recipe can make other modules of the part run (`--dyn-chat-processor vllm`), also one that a variable
    sets (`DYN_CHAT_PROCESSOR=vllm`): what only these miss carries the option among its `needs`."""
    place = (pin.module, folder or next((one.folder for one in known.values() if one.module == pin.module), ""))

    def ask(tree: Tree, extra: Sequence[str] = ()) -> ImportsChecked:
        return checked(engine, tree, consumer, survey, known=known, names=(pin.text, called), pin=pin, extra=extra,
                       platform=vendor or None, at=place)

    told = ask(new)
    options, variables = _options(pin, consumer, engine, uses, place, survey)
    for option, modules in _asked([*options, *(used for _, used in variables)], consumer, engine, place).items():
        further = ask(new, modules)
        told = replace(told, missing=_with(told.missing, further.missing, option),
                       unread_start=tuple(sorted({*told.unread_start, *further.unread_start})))
    return replace(told, asked=tuple(variables), before=_before(lambda: ask(old).missing) if old is not None else None)


def kernels(engine: Engine, new: Tree, old: Tree | None, survey: Survey, wheel: Callable[[str, str], Tree | None], *,
            known: Mapping[str, Engine], called: str, vendor: str | None = None) -> tuple[ImportsChecked, ...]:
    """What the engine imports of its own kernel wheel that the version it pins does not have. Nothing where it has no such wheel,
    or where its pin or the wheel cannot be read: then nothing is known. Images for other GPUs (`vendor`) bring kernels of their
    own, which no index has."""
    made = []
    for kernel in _kernels_of(engine, vendor):
        told = _kernel(engine, kernel, new, survey, wheel, known, called)
        earlier = _kernel(engine, kernel, old, survey, wheel, known, called) if told and old is not None else None
        if told is not None:
            made.append(replace(told, kernel=True, before=None if earlier is None else earlier.missing))
    return tuple(made)


def pinned(engine: Engine, tree: Tree, vendor: str | None = None) -> bool:
    """Whether it pins a kernel wheel, so that there is something to look at."""
    return any(pins.pinned(tree, _names(kernel), engine.folder) for kernel in _kernels_of(engine, vendor))


def _kernels_of(engine: Engine, vendor: str | None) -> list[Engine]:
    usual = vendor in (None, "", KERNELS_RUN_ON)
    return [Engine(repositories=(), module=module, package=name) for module, name in engine.kernels.items()] if usual else []


def _names(kernel: Engine) -> list[str]:
    return [kernel.package, *filter(None, [_OLDER.get(kernel.package)])]


def fits(versions: Sequence[str], tree_of: Callable[[str], Tree | None], check: Callable[[Tree], ImportsChecked],
         tries: int = TRIES) -> str | None:
    """The first of these versions (newest first) that misses nothing on its start path, among so many as are tried."""
    for version in versions[:tries]:
        tree = tree_of(version)
        told = check(tree) if tree is not None else None
        if told and not told.unread_start and not any(row.stops for row in told.missing):
            return version
    return None


def newer(versions: Sequence[str], than: str) -> list[str]:
    """Those published versions that come after one, in their order; releases alone where there are any, since a build of one day
    is nothing to pin for long."""
    told = _version(than)
    after = [word for word in versions if told and (one := _version(word)) and one > told]
    return [word for word in after if (one := _version(word)) and not one.is_prerelease] or after


def lacking(told: ImportsChecked) -> bool:
    """Whether it lacks what the old engine did not, in a way that nothing catches."""
    known = {(row.module, row.name) for row in told.before or ()}
    return bool(told.unread_start) or any(not row.guarded and not row.typing and (row.module, row.name) not in known
                                          for row in told.missing)


def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None


def _kernel(engine: Engine, kernel: Engine, tree: Tree, survey: Survey, wheel: Callable[[str, str], Tree | None],
            known: Mapping[str, Engine], called: str) -> ImportsChecked | None:
    found = pins.pinned(tree, _names(kernel), engine.folder)
    provider = wheel(*found) if found else None
    if found is None or provider is None:
        return None
    where = Written(file=f"{found[0]}=={found[1]}")
    pin = Pin(name=found[0], package=found[0], module=kernel.module, version=found[1], at=where)
    try:
        return checked(kernel, provider, tree, survey, known=known, names=(called, f"{found[0]} {found[1]}"), pin=pin,
                       at=(engine.module, engine.folder))
    except BadInput:
        return None


def _options(pin: Pin, consumer: Tree, engine: Engine, uses: Uses, place: tuple[str, str],
             survey: Survey) -> tuple[list[Used], list[tuple[str, Used]]]:
    """The recipe's options whose value is the engine, for all that is known the part's own, and those that a variable sets."""
    called = names_of(engine)
    mine, variables = ([used for used in every if used.value in called and used.program.partition(".")[0] in ("", pin.module)]
                       for every in (uses.options, uses.environment))
    if not variables:
        return mine, []
    said = [used for used in uses.options if used.program.partition(".")[0] in ("", pin.module)]
    paths = [path for _, path in consumer_of(consumer, called, but=[engine.module], at=place).sources()]
    return mine, declared.meant(variables, said, consumer, paths, survey)


def _asked(options: Sequence[Used], consumer: Tree, engine: Engine, place: tuple[str, str]) -> dict[str, list[str]]:
    """By option and value: the modules of the part that it makes run, by their names: `--dyn-chat-processor vllm` runs
    `dynamo.frontend.vllm_processor`."""
    if not options:
        return {}
    modules = [name for name, _ in consumer_of(consumer, names_of(engine), but=[engine.module], at=place).sources()]
    made = {}
    for used in options:
        kind = used.name.rpartition("-")[2]  # processor
        wanted = [name for name in modules if name.rpartition(".")[2] == f"{used.value}_{kind}"]
        if wanted:
            made[setting(used)] = wanted
    return made


def setting(used: Used) -> str:
    """An option as a condition of the code names it: `dyn_chat_processor=vllm`."""
    return f"{used.name.lstrip('-').replace('-', '_')}={used.value}"


def _with(missing: Sequence[MissingImport], further: Sequence[MissingImport], option: str) -> tuple[MissingImport, ...]:
    """The rows, and those that stop only with the option on."""
    stopping = {(row.file, row.line, row.module, row.name) for row in further if row.stops}
    stopping -= {(row.file, row.line, row.module, row.name) for row in missing if row.stops}
    return tuple(replace(row, needs=(*row.needs, option)) if (row.file, row.line, row.module, row.name) in stopping else row
                 for row in missing)


def _before(ask: Callable[[], tuple[MissingImport, ...] | None]) -> tuple[MissingImport, ...] | None:
    """What the old engine lacked; None where its tree does not even have the module, and nothing can be said of it."""
    try:
        return ask()
    except BadInput:
        return None

