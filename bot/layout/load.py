"""A layout file into a Layout: the preset it names underneath, its own keys on top, each fault told by file, line and key."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from bot import strict
from bot.errors import BadInput
from bot.layout import asked, control, patterns
from bot.layout.globs import astray
from bot.layout.paths import steps
from bot.layout.records import Layout, Linked, RecipeFiles
from bot.layout.schema import ARGUMENT_HOLES, BARE, BRANCH, INPUT_HOLES, KEY, REPOSITORY, URL
from bot.model import policy as policies
from bot.strict.records import as_record

Lines = Mapping[tuple[str | int, ...], int]
_HOLE = re.compile(r"\{([^{}]*)\}")


def load(text: str | bytes, *, file: str = ".github/bumpbot.yml", presets: Mapping[str, str] | None = None) -> Layout:
    """The layout that `text` states; a preset it names is looked for in `presets` (name -> text)."""
    return resolve(text, presets or {}, file)


def resolve(text: str | bytes, presets: Mapping[str, str], file: str = ".github/bumpbot.yml") -> Layout:
    """As `load`. Mappings join key by key with the preset's, anything else (lists too) replaces what the preset says."""
    value, lines = strict.parse(text, file=file)
    own = as_record(Layout, value, lines, file)
    if own.preset is None:
        layout = own
    else:
        layout = _joined(own.preset, value or {}, presets, file, lines)
    for place, reason, hint in (*_faults(layout), *patterns.idle(own, layout)):
        line = next((lines[place[:end]] for end in range(len(place), 0, -1) if place[:end] in lines), None)
        raise BadInput(reason, hint, file=file, line=line, key=".".join(map(str, place)))
    return layout


def _joined(name: str, value: Mapping[str, Any], presets: Mapping[str, str], file: str, lines: Lines) -> Layout:
    if name not in presets:
        known = ", ".join(sorted(presets)) or "none here"
        raise BadInput(f"no preset is called {name!r}", f"presets: {known}", file=file, line=lines.get(("preset",)),
                       key="preset")
    under = f"preset {name}"
    base, below = strict.parse(presets[name], file=under)
    as_record(Layout, base, below, under)
    return strict.load_json(Layout, msgspec.json.encode(_over(base, value)), file=file)


def _over(base: Any, top: Any) -> Any:
    if isinstance(base, dict) and isinstance(top, dict):
        return {key: _over(base[key], top[key]) if key in base and key in top else top.get(key, base.get(key))
                for key in {**base, **top}}
    return top


Fault = tuple[tuple[str | int, ...], str, str]


def _faults(layout: Layout) -> Iterator[Fault]:
    """What types cannot say, in file order of importance."""
    for check in _CHECKS:
        yield from check(layout)


def _recipes(layout: Layout) -> Iterator[Fault]:
    if not layout.recipes:
        yield ("recipes",), "no recipes are named", "say where they lie: `recipes: [{files: deploy/*.yaml}]`"
    for at, entry in enumerate(layout.recipes):
        if not entry.image:
            yield ("recipes", at, "image"), "no site of the image is named", "give paths like [.image]"
        yield from _key(("recipes", at, "key"), entry.key)
        yield from _places(("recipes", at), entry)


def _key(place: tuple[str | int, ...], key: str) -> Iterator[Fault]:
    """`*`, a path with its only `*` at the end, or a name."""
    if key == "*" or not key.startswith("."):
        if key != "*" and not re.fullmatch(KEY, key):
            yield place, f"{key!r} is neither a path nor a name", "a path starts with a dot, like .metadata.name or .services.*"
        return
    try:
        way = steps(key)
    except BadInput as fault:
        yield place, fault.reason.removeprefix(f"{key}: "), fault.hint
        return
    if "*" in way[:-1]:
        yield place, "has a * that is not its end", "end with it, like .services.*, or name the recipe by a path without one"


def _places(place: tuple[str | int, ...], entry: RecipeFiles) -> Iterator[Fault]:
    """Paths that do not parse."""
    linked = entry.linked or Linked()
    stated = {("image",): entry.image, ("linked", "image"): linked.image, ("linked", "within"): linked.within,
              ("linked", "provenance"): linked.provenance, ("linked", "engine"): linked.engine}
    paths = {(*way, at): path for way, paths in stated.items() for at, path in enumerate(paths)}
    for way, path in {**paths, **{("facts", name): path for name, path in entry.facts.items()}}.items():
        try:
            steps(path)
        except BadInput as fault:
            yield (*place, *way), fault.reason.removeprefix(f"{path}: "), fault.hint


def _workflows(layout: Layout) -> Iterator[Fault]:
    for name in ("smoke", "sweep"):
        part = getattr(layout, name)
        if part is None:
            continue
        if not part.workflow:
            yield (name, "workflow"), "no workflow is named", "give its file name"
        for key, template in part.inputs.items():
            yield from _holes((name, "inputs", key), template, INPUT_HOLES)
    if layout.smoke and layout.smoke.command and layout.smoke.command not in layout.smoke.inputs:
        yield ("smoke", "command"), "is not among the inputs", "name the input that holds the generator's command line"
    for key, words in layout.smoke.arguments.items() if layout.smoke else ():
        for at, template in enumerate(words):
            yield from _holes(("smoke", "arguments", key, at), template, ARGUMENT_HOLES)
    if layout.sweep and layout.sweep.start == "label" and not layout.sweep.label:
        yield ("sweep", "label"), "a sweep by label needs the label", "name it"
    if layout.sweep and layout.sweep.primary and layout.sweep.label not in layout.sweep.primary:
        yield ("sweep", "label"), "is not among the primary labels", "name one of `primary`"
    for at, name in enumerate(layout.sweep.fail_fast if layout.sweep else ()):
        if name not in (layout.sweep.label, *layout.sweep.primary):
            yield ("sweep", "fail-fast", at), "is not among the primary labels", "name one of `primary`"


def _holes(place: tuple[str | int, ...], template: str, known: frozenset[str]) -> Iterator[Fault]:
    """Names in braces that nothing fills."""
    for hole in _HOLE.findall(template):
        if hole not in known:
            yield place, f"{{{hole}}} is not known", "known: " + " ".join(f"{{{word}}}" for word in sorted(known))


def _changelog(layout: Layout) -> Iterator[Fault]:
    if layout.changelog and not layout.changelog.file:
        yield ("changelog", "file"), "no file is named", "give its path"
    if layout.changelog and layout.changelog.pull and "{number}" not in layout.changelog.pull:
        yield ("changelog", "pull"), "has no {number}", "write where the pull request's number goes"
    known = (*layout.changelog.flags, *layout.changelog.counts) if layout.changelog else ()
    for at, names in enumerate(layout.changelog.apart if layout.changelog else ()):
        for name in names:
            if name not in known:
                yield ("changelog", "apart", at), f"{name} is neither a flag nor a count", f"known: {', '.join(known) or 'none'}"


def _policies(layout: Layout) -> Iterator[Fault]:
    stated = ((("policy",), layout.policy), *((("policies", name), wanted) for name, wanted in layout.policies.items()))
    for place, wanted in stated:
        for at, reason, hint in policies.faults(wanted):
            yield (*place, *at), reason, hint
        if lacks := control.lacking(layout, wanted):
            yield (*place, "control-arm"), *lacks


def _names(layout: Layout) -> Iterator[Fault]:
    if not re.fullmatch(BRANCH, layout.branch):
        yield ("branch",), "not a branch prefix", "like bumpbot/"
    for key in ("repository", "ledger"):
        if getattr(layout, key) and not re.fullmatch(REPOSITORY, getattr(layout, key)):
            yield (key,), "not an owner/name", "like octo/recipes"
    if wrong := _folder(layout.baselines.folder):
        yield ("baselines", "folder"), *wrong
    if layout.baselines.url and not re.fullmatch(URL, layout.baselines.url):
        yield ("baselines", "url"), "not an https address without user, password or query", "http is for loopback only"
    for name, url in layout.sources.items():
        if not re.fullmatch(URL, url):
            yield ("sources", name), "not an https address without user, password or query", "like https://github.com/owner/name"
    for at, name in enumerate(layout.allow):
        if not re.fullmatch(BARE, name):
            yield ("allow", at), "not a registry/repository", "like docker.io/vllm/vllm-openai, without tag"


def _folder(name: str) -> tuple[str, str] | None:
    """What is wrong with the name of a folder or file of the repository; braces and stars are no glob here."""
    if not name.isprintable():
        return "holds what cannot be printed", "write the folder's name"
    if set("*?{}[]") & set(name):
        return "is no glob", "name one folder, or one .json or .jsonl file"
    return astray(name)


_CHECKS: tuple[Callable[[Layout], Iterator[Fault]], ...] = (
    _recipes, patterns.faults, _workflows, _changelog, _policies, _names, asked.faults)
