"""What the shell scripts of a recipe ask of the engine. They are read line by line and never run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from bot import strict
from bot.errors import BadInput
from bot.layout.records import Layout
from bot.model.recipe import Recipe
from bot.model.uses import Used
from bot.model.uses import Written as At
from bot.recipe.shelf import Shelf
from bot.recipe.uses.found import Found
from bot.recipe.uses.shell.starts import Script, Start, starts
from bot.recipe.uses.shell.values import Said
from bot.upstream.engines import Engine

_HOLE = re.compile(r"<([a-z]+)>")
_OPTION = re.compile(r"--?[A-Za-z][\w.+-]*")
_NUMBER = re.compile(r"-\d")
_UNKNOWN = re.compile(r"\$[A-Za-z_?][A-Za-z0-9_]*")


def paths(shelf: Shelf, layout: Layout, recipe: Recipe) -> tuple[str, ...]:
    """The scripts that start a recipe's server, by the first glob of the layout that finds any."""
    found: dict[str, None] = {}
    for facts in _facts(recipe):
        for glob in layout.preflight.scripts:
            if files := shelf.fitting([_filled(glob, facts)]):
                found |= dict.fromkeys(files)
                break
    return tuple(found)


def _filled(glob: str, facts: Mapping[str, str]) -> str:
    return _HOLE.sub(lambda hole: facts.get(hole[1], "*"), glob)


def read(shelf: Shelf, layout: Layout, recipe: Recipe, engines: Mapping[str, Engine], found: Found) -> dict[str, str]:
    """Takes in every start of the engine; the scripts' texts by path."""
    texts: dict[str, str] = {}
    commands = [command for engine in engines.values() for command in engine.commands]
    for path in paths(shelf, layout, recipe):
        try:
            texts[path] = (shelf.read(path) or b"").decode()
            script = starts(texts[path], commands)
        except ValueError as fault:
            found.unread.append(f"{path}: {fault}")
            continue
        if not script.starts:
            found.unread.append(f"{path}: no start of the server that can be read")
        _take(path, script, engines, found)
    return texts


def options(words: Sequence[Said]) -> Iterator[tuple[str, str | None, Said]]:
    """The options among the words of a command, each with its value: None for a switch, and for what only a run knows."""
    at = 0
    while at < len(words):
        said = words[at]
        at += 1
        name, equals, value = said.text.partition("=")
        if said.text == "--" or not _OPTION.fullmatch(name):
            continue
        if equals:
            yield name, None if _UNKNOWN.search(value) and not said.known else value, said
        elif at < len(words) and (not words[at].text.startswith("-") or _NUMBER.match(words[at].text)):
            yield name, words[at].text if words[at].known else None, said
            at += 1
        else:
            yield name, None, said


def _take(path: str, script: Script, engines: Mapping[str, Engine], found: Found) -> None:
    made: list[list[Used]] = []
    for start in script.starts:
        engine = next(engine for engine in engines.values() if start.command in engine.commands)
        made.append(list(_of_start(path, start, script, engine, found)))
    always = set.intersection(*[{used.name for used in one if not used.conditional} for one in made]) if made else set()
    for one in made:
        found.options += [used if used.name in always or used.conditional else _maybe(used) for used in one]
    if script.starts:
        exports = [*((name, said) for name, said in script.environment),
                   *((name, said) for start in script.starts for name, said in start.environment)]
        found.environment += [Used(kind="environment", name=name, value=said.text if said.known else None,
                                   at=At(file=path, line=said.line or None), conditional=said.conditional)
                              for name, said in exports]


def _of_start(path: str, start: Start, script: Script, engine: Engine, found: Found) -> Iterator[Used]:
    number = f"line {start.line}"
    for name, value, said in options(start.words):
        yield Used(kind="option", name=name, value=value, at=At(file=path, line=said.line or start.line),
                   conditional=said.conditional, start=number)
        if name.replace("_", "-") in {config.replace("_", "-") for config in engine.configs}:
            yield from _config(path, name, value or said.text, start, script, engine, found, said.conditional)
    loose = [said for said in start.words if _UNKNOWN.fullmatch(said.text) and not said.known]
    values = {id(word) for at, word in enumerate(start.words[1:], 1) if _OPTION.fullmatch(start.words[at - 1].text)}
    for said in loose[1:] if loose and loose[0] is start.words[0] else loose:
        if id(said) not in values:
            found.unread.append(f"{path}:{said.line}: {said.text} is known to a run alone")


def _config(path: str, name: str, value: str, start: Start, script: Script, engine: Engine, found: Found,
            conditional: bool) -> Iterator[Used]:
    """The settings of a file that the script writes and hands to the server."""
    target = next((said.text for at, said in enumerate(start.words[1:], 1) if start.words[at - 1].text == name), value)
    target = target.partition("=")[2] if target.startswith("-") else target
    written = [file for file in script.files if file.target == target]
    if not written:
        found.unread.append(f"{path}:{start.line}: {name} names a file that this script does not write")
    for file in written:
        try:
            tree, lines = strict.parse(_UNKNOWN.sub("__unknown__", file.text), file=path, foreign=True)
        except BadInput as fault:
            found.unread.append(f"{path}:{file.line}: {fault.reason}")
            continue
        for key, one in _flat(tree if isinstance(tree, dict) else {}):
            line = lines.get(key)
            text = None if "__unknown__" in str(one) else _text(one)
            dotted = ".".join(map(str, key))
            yield Used(kind="option", name=dotted if engine.settings else f"--{dotted}", value=text, start=f"line {start.line}",
                       at=At(file=path, line=file.line + line - 1 if line else file.line),
                       conditional=conditional or file.conditional)


def _flat(tree: Mapping[Any, Any], prefix: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    for key, child in tree.items():
        if isinstance(child, dict) and child:
            yield from _flat(child, (*prefix, key))
        else:
            yield (*prefix, key), child


def _text(value: Any) -> str:
    return json.dumps(value, default=str) if isinstance(value, (bool, list, dict, type(None))) else str(value)


def _maybe(used: Used) -> Used:
    return replace(used, conditional=True)


def _facts(recipe: Recipe) -> list[dict[str, str]]:
    """What the globs may name. A recipe that measures several workloads, with and without drafting, has a script for each."""
    base = {"prefix": recipe.prefix, "precision": recipe.precision, "hardware": recipe.hardware, "framework": recipe.framework,
            "model": recipe.model.rsplit("/", 1)[-1], "key": recipe.key}
    base = {name: value for name, value in base.items() if value}
    kinds = {("agentic" if "agentic" in point.workload else "fixed_seq_len", point.speculation) for point in recipe.points}
    return [base | {"workload": workload, "speculation": "" if drafts in ("", "none") else "_mtp"}
            for workload, drafts in sorted(kinds)] or [base]
