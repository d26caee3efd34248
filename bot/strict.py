"""Text from people into checked records: either a record, or one line that says which file, line and key is wrong.

YAML and JSON are read under limits (SECURITY.md rule 12): bytes, nodes and depth; duplicate keys, aliases, NaN and
Infinity are refused, because each of them has made two readers see two different files.
"""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

import msgspec

from bot.errors import BadInput

T = TypeVar("T")
MAX_BYTES = 8_000_000
MAX_NODES = 400_000
MAX_DEPTH = 60
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<key>[^`]*)`")
_MISSING = re.compile(r"Object missing required field `(?P<key>[^`]*)`")
_AT = re.compile(r" - at (?:`key` in )?`(?P<path>[^`]*)`$")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")


def load(kind: type[T], text: str | bytes, *, file: str) -> T:
    """A YAML document as `kind`; BadInput names file, line and key of the first thing that does not hold."""
    if isinstance(text, bytes):
        text = _decode(text, file)
    value, lines = parse(text, file=file)
    try:
        return msgspec.convert(value, kind, strict=True)
    except msgspec.ValidationError as error:
        raise _explain(str(error), lines, file) from None


def load_json(kind: type[T], data: str | bytes, *, file: str) -> T:
    """A JSON document as `kind`, with the same strictness; the place is told as a path, JSON being one line often."""
    text = _decode(data, file) if isinstance(data, bytes) else data
    if len(text) > MAX_BYTES:
        raise BadInput(f"larger than {MAX_BYTES} characters", "shorten it", file=file)
    value = json_value(text, file=file)
    try:
        return msgspec.convert(value, kind, strict=True)
    except msgspec.ValidationError as error:
        raise _explain(str(error), {}, file) from None


def json_value(text: str, *, file: str) -> Any:
    """Plain JSON without duplicate keys, NaN or Infinity."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, value in items:
            if key in made:
                raise BadInput("this key stands twice", "keep one", file=file, key=key)
            made[key] = value
        return made

    def constant(word: str) -> Any:
        raise BadInput(f"{word} is not a JSON number", "leave the value out or write null", file=file)

    try:
        return json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise BadInput(f"not JSON: {error.msg}", f"look at column {error.colno}", file=file, line=error.lineno) from None
    except RecursionError:
        raise BadInput("nested too deeply", "flatten it", file=file) from None


def parse(text: str, *, file: str) -> tuple[Any, dict[tuple[str | int, ...], int]]:
    """A YAML document as plain values, and the line (from 1) on which each key path stands."""
    import yaml

    if len(text) > MAX_BYTES:
        raise BadInput(f"larger than {MAX_BYTES} characters", "split it", file=file)
    _bound(text, file)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    try:
        node = loader.get_single_node()
        lines: dict[tuple[str | int, ...], int] = {}
        value = None if node is None else _build(loader, node, (), lines, file)
        return value, lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise BadInput(f"not YAML: {error.problem or error.context}", "mend the line", file=file,
                       line=mark.line + 1 if mark else None) from None
    except (yaml.YAMLError, ValueError) as error:
        raise BadInput(f"not YAML: {str(error).splitlines()[0]}", "mend it", file=file) from None
    finally:
        loader.dispose()


def _bound(text: str, file: str) -> None:
    """Counts events before anything is built: a few bytes of aliases or brackets can ask for gigabytes."""
    import yaml

    depth = 0
    try:
        for count, event in enumerate(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))):
            line = event.start_mark.line + 1
            if isinstance(event, yaml.AliasEvent):
                raise BadInput("aliases are not read here", "write the value out", file=file, line=line)
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > MAX_DEPTH or count > MAX_NODES:
                raise BadInput("nested too deeply or too large", "flatten or split it", file=file, line=line)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise BadInput(f"not YAML: {error.problem or error.context}", "mend the line", file=file,
                       line=mark.line + 1 if mark else None) from None
    except (yaml.YAMLError, ValueError) as error:
        raise BadInput(f"not YAML: {str(error).splitlines()[0]}", "mend it", file=file) from None


def _build(loader: Any, node: Any, path: tuple[str | int, ...], lines: dict[tuple[str | int, ...], int], file: str) -> Any:
    import yaml

    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.SequenceNode):
        return [_build(loader, item, (*path, i), lines, file) for i, item in enumerate(node.value)]
    if not isinstance(node, yaml.MappingNode):
        return loader.construct_object(node)
    made: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node) if isinstance(key_node, yaml.ScalarNode) else None
        line = key_node.start_mark.line + 1
        if not isinstance(key, (str, int, float, bool)):
            raise BadInput("a key must be a word", "quote it", file=file, line=line)
        if key in made:
            raise BadInput("this key stands twice", "keep one", file=file, line=line, key=str(key))
        lines[(*path, str(key))] = line
        made[key] = _build(loader, value_node, (*path, str(key)), lines, file)
    return made


def _explain(message: str, lines: dict[tuple[str | int, ...], int], file: str) -> BadInput:
    at = _AT.search(message)
    reason = message[: at.start()] if at else message
    path = _steps(at["path"]) if at else ()
    named = _UNKNOWN.search(reason) or _MISSING.search(reason)
    if named and _UNKNOWN.search(reason):
        path, reason, hint = (*path, named["key"]), "unknown key", "remove it or correct its spelling"
    elif named:
        reason, hint = f"the key `{named['key']}` is missing", "add it"
    else:
        hint = "correct the value"
    line = next((lines[path[:end]] for end in range(len(path), -1, -1) if path[:end] in lines), None)
    return BadInput(reason, hint, file=file, line=line, key=".".join(map(str, path)) or "")


def _steps(path: str) -> tuple[str | int, ...]:
    found = _STEP.findall(path.removeprefix("$"))
    return tuple(name if name else (int(index) if index.isdigit() else index) for name, index in found)


def _decode(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput("not UTF-8", f"look at byte {error.start}", file=file) from None
