"""Text from people into checked records: either a record, or one line that says which file, line and key is wrong.

YAML and JSON are read under limits (SECURITY.md rule 12): bytes, nodes, depth and digits; duplicate keys, aliases, tags,
NaN and Infinity are refused, because each of them has made two readers see two different files.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from math import isfinite
from typing import Any, TypeVar

from bot.errors import BadInput
from bot.strict.plain import json_value
from bot.strict.records import Lines, as_record
from bot.strict.words import LONG, MAX_DEPTH, MAX_DIGITS, TWICE, Path, key_of, one_line

__all__ = ["convert", "json_value", "load", "load_json", "parse"]

T = TypeVar("T")
MAX_BYTES = 8_000_000
MAX_NODES = 400_000
_TAG = "tag:yaml.org,2002:"
_IN_OUR_WORDS = {"another document": "a second document begins here, and one is read", "nesting depth": "nested too deeply"}
_SCALARS = frozenset(f"{_TAG}{name}" for name in ("null", "bool", "int", "float", "str", "timestamp"))


def load(kind: type[T], text: str | bytes, *, file: str) -> T:
    """A YAML document as `kind`; BadInput names file, line and key of the first thing that does not hold."""
    value, lines = parse(text, file=file)
    return as_record(kind, value, lines, file)


def load_json(kind: type[T], data: str | bytes, *, file: str) -> T:
    """A JSON document as `kind`, with the same strictness; the place is told as a path, JSON being one line often."""
    return convert(kind, json_value(_text(data, file), file=file), file=file)


def convert(kind: type[T], value: Any, *, file: str) -> T:
    """Plain values (of JSON: keys are text) as `kind`; BadInput names `file` and the path of what does not hold."""
    return as_record(kind, value, {}, file, str_keys=True)


def parse(text: str | bytes, *, file: str, foreign: bool = False) -> tuple[Any, Lines]:
    """A YAML document as plain values, and the line (from 1) on which each key path stands.

    A moment without a zone is UTC, as YAML's specification says. A word that YAML 1.1 and 1.2 read as two things (`no`, `1:30`,
    `010`) is refused, unless the file is `foreign`: written for another reader, as a workflow with its `on:` is.
    """
    import yaml

    text = _text(text, file).removeprefix("\ufeff")
    try:
        _bound(text, file)
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
        loader.foreign = foreign
        try:
            node = loader.get_single_node()
            lines: Lines = {}
            return None if node is None else _build(loader, node, (), lines, file), lines
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        raise _not_yaml(error, file) from None
    except yaml.reader.ReaderError as error:
        line = text.encode("utf-8", "surrogatepass")[: error.position].count(b"\n") + 1
        raise BadInput("not YAML: a character that may not stand in it", "remove it", file=file, line=line) from None
    except (yaml.YAMLError, ValueError) as error:
        raise BadInput(f"not YAML: {one_line(str(error))}", "mend it", file=file) from None


def _bound(text: str, file: str) -> None:
    """Counts events before anything is built: a few bytes of aliases or brackets can ask for gigabytes."""
    import yaml

    depth = 0
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


def _build(loader: Any, node: Any, path: tuple[str | int, ...], lines: Lines, file: str) -> Any:
    import yaml

    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.ScalarNode):
        return _scalar(loader, node, path, file)
    expected = "seq" if isinstance(node, yaml.SequenceNode) else "map"
    if node.tag != f"{_TAG}{expected}":
        raise _tagged(node, path, file)
    if isinstance(node, yaml.SequenceNode):
        return [_build(loader, item, (*path, i), lines, file) for i, item in enumerate(node.value)]
    made: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        key = _scalar(loader, key_node, path, file) if isinstance(key_node, yaml.ScalarNode) else None
        if not isinstance(key, (str, int, float, bool)):
            raise BadInput("a key must be a word", "quote it", file=file, line=line, key=key_of(path))
        if key in made:
            raise BadInput(TWICE.reason, TWICE.hint, file=file, line=line, key=key_of((*path, key)))
        lines[(*path, str(key))] = line
        made[key] = _build(loader, value_node, (*path, str(key)), lines, file)
    return made


def _scalar(loader: Any, node: Any, path: Path, file: str) -> Any:
    """One plain value. Numbers must be finite and short, moments real; a tag that makes anything else is refused."""
    line = node.start_mark.line + 1
    if node.tag not in _SCALARS:
        raise _tagged(node, path, file)
    if node.tag in (f"{_TAG}int", f"{_TAG}float") and len(node.value) > MAX_DIGITS:
        raise BadInput(LONG.reason, LONG.hint, file=file, line=line, key=key_of(path))
    if not node.style and not loader.foreign and _two_things(node):
        kind = node.tag.removeprefix(_TAG)
        raise BadInput(f"`{one_line(node.value, 60)}` is a {kind} to some readers and something else to others",
                       "write true, false or a plain number, or quote it", file=file, line=line, key=key_of(path))
    try:
        value = loader.construct_object(node)
    except (ValueError, OverflowError) as error:
        raise BadInput(f"`{one_line(node.value, 60)}` cannot be read: {one_line(str(error))}",
                       "correct it, or quote it if it is a text", file=file, line=line, key=key_of(path)) from None
    if isinstance(value, float) and not isfinite(value):
        raise BadInput(f"`{one_line(node.value, 60)}` is not a finite number", "leave the value out or write null", file=file,
                       line=line, key=key_of(path))
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) and value.tzinfo is None else value


def _two_things(node: Any) -> bool:
    """Whether YAML 1.1, which is read here, and 1.2 disagree on a plain word: `no` is false here, `1:30` 90, `010` 8, `1_0` 10."""
    kind, word = node.tag.removeprefix(_TAG), node.value
    if kind == "bool":
        return word.lower() not in ("true", "false")
    return kind in ("int", "float") and (bool({":", "_"} & set(word)) or re.fullmatch(r"[-+]?0[0-9]+", word) is not None)


def _tagged(node: Any, path: Path, file: str) -> BadInput:
    word = node.tag.removeprefix(_TAG)
    plain = {"value": "`=` alone is a sign of YAML's own", "merge": "`<<` merges are not read here"}.get(word)
    return BadInput(plain or f"the tag `{one_line(word, 60)}` is not read here", "write the value out, or quote it", file=file,
                    line=node.start_mark.line + 1, key=key_of(path))


def _not_yaml(error: Any, file: str) -> BadInput:
    mark, reason = error.problem_mark or error.context_mark, one_line(error.problem or error.context or "")
    reason = next((ours for theirs, ours in _IN_OUR_WORDS.items() if theirs in reason), reason)
    return BadInput(f"not YAML: {reason}", "mend the line", file=file, line=mark.line + 1 if mark else None)


def _text(data: str | bytes, file: str) -> str:
    if len(data) > MAX_BYTES:
        raise BadInput(f"larger than {MAX_BYTES} bytes", "split it", file=file)
    if isinstance(data, str):
        return data
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput("not UTF-8", f"look at byte {error.start}", file=file) from None
