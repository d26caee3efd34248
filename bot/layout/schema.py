"""The JSON Schema of a layout file: the records', and what `load` asks beyond types as far as a schema can say it.

An editor that takes the schema must not call fine what `layout check` refuses. What needs two keys side by side (a label among
the primary ones) or an engine (whether `jobs` compiles) is left to `load`.
"""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from bot.layout.records import Layout
from bot.model.finding import Check

# Whole texts, by the rules that JSON Schema's and Python's expressions share.
BRANCH = r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*[/-]?"
REPOSITORY = r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9._-]+"
URL = r"(https://[^\s?#@]+|http://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?(/[^\s?#@]*)?)"
KEY = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
LOGIN = r"[A-Za-z0-9](-?[A-Za-z0-9])*(\[bot\])?"
VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"
BARE = r"[a-z0-9._-]+(\.[a-z0-9-]+)*(:[0-9]+)?/[a-z0-9._/-]+"
INPUT_HOLES = frozenset({"key", "keys", "file", "arguments", "points", "eval-limit", "fail-fast", "head", "nonce"})
ARGUMENT_HOLES = frozenset({"concurrencies"})
ARTIFACT_HOLES = frozenset({"recipe", "runner", "concurrency", "topology", "task", "attempt"})

_STEP = r'"([^"\\]|\\.)*"|\[[0-9]+\]'
_WORD = r'[^.\[\]"]+(?=[.\["]|$)'  # a word ends where no more of it follows: without that a long one is tried in every way
_PATH = rf'(\.|(\.?({_STEP}|\[\*\]|{_WORD}))*)'
_WAY = rf'(\.|(?=\.)(\.?({_STEP}|(?!\*([.\["]|$)){_WORD}))*(\.?(\*|\[\*\]))?)'
_GLOB = r"([^{}\[\]]|\{[^{}\[\]]*\})*"
_INSIDE = rf"(?!/)(?!(.*/)?\.\.(/|$)){_GLOB}"
_PLACE = r"(?!/)(?!(.*/)?\.\.(/|$))[^*?{}\[\]\x00-\x1f\x7f]*"
_FLEET = r"(?!/)(?!(.*/)?\.\.(/|$))([^*?{}\[\]\x00-\x1f\x7f]|\{fleet\})*"

Extra = dict[str, Any]


def _whole(pattern: str) -> Extra:
    return {"pattern": f"^({pattern})$"}


def _items(pattern: str) -> Extra:
    return {"items": _whole(pattern)}


def _holes(known: frozenset[str]) -> Extra:
    return {"pattern": rf"^(?!.*\{{(?!({'|'.join(sorted(known))})\}})[^{{}}]*\}})"}


_OF_PATHS = _items(_PATH)
_SPOKEN = {"minLength": 1}
# Said by the preset, where one is named.
_ALONE: Extra = {
    "required": ["recipes"],
    "properties": {
        "smoke": {"required": ["workflow"]}, "changelog": {"required": ["file"]},
        "sweep": {"required": ["workflow"], "if": {"properties": {"start": {"const": "label"}}, "required": ["start"]},
                  "then": {"required": ["label"], "properties": {"label": _SPOKEN}}}},
    "if": {"anyOf": [{"required": ["generator-command"], "properties": {"generator-command": _SPOKEN}},
                     {"required": ["generator-files"], "properties": {"generator-files": {"minItems": 1}}}]},
    "then": {"required": ["generator"], "properties": {"generator": {"const": "inferencex"}}},
}
_MORE: dict[str, Extra] = {
    "Layout": {
        "anyOf": [{"required": ["preset"], "properties": {"preset": {"type": "string"}}}, _ALONE],
        "properties": {
            "recipes": {"minItems": 1}, "branch": _whole(BRANCH), "repository": _whole(f"({REPOSITORY})?"),
            "ledger": _whole(f"({REPOSITORY})?"), "sources": {"additionalProperties": _whole(URL)}, "allow": _items(BARE),
            "mentions": _items(_INSIDE), "generator-files": _items(_INSIDE), "policies": {"propertyNames": _whole(_GLOB)},
            "jobs": {"pattern": r"\(\?P<concurrency>"}, "forbidden": {"items": {"pattern": r"\S"}}}},
    "RecipeFiles": {"properties": {
        "files": {"anyOf": [_whole(_INSIDE), _items(_INSIDE)]}, "key": _whole(rf"\*|{KEY}|{_WAY}"),
        "image": {"minItems": 1, **_OF_PATHS}, "facts": {"additionalProperties": _whole(_PATH)}}},
    "Linked": {"properties": {"files": _items(_INSIDE),
                              **{name: _OF_PATHS for name in ("within", "image", "provenance", "engine")}}},
    "Fixed": {"properties": {"where": {"additionalProperties": _whole(_GLOB)}}},
    "Smoke": {"properties": {"workflow": _SPOKEN, "inputs": {"additionalProperties": _holes(INPUT_HOLES)},
                             "arguments": {"additionalProperties": {"items": _holes(ARGUMENT_HOLES)}}}},
    "Sweep": {"properties": {"workflow": _SPOKEN, "inputs": {"additionalProperties": _holes(INPUT_HOLES)}}},
    "Changelog": {"properties": {"file": _SPOKEN, "pull": {"pattern": r"^$|\{number\}"}}},
    "Baselines": {"properties": {"url": _whole(f"{URL}?")}},
    "Artifacts": {"properties": {name: _items("[^{}]*") for name in ("results", "logs", "evals")}},
    "RepairScope": {"properties": {"files": _items(_INSIDE), "keys": _items(_GLOB)}},
    "Wanted": {"if": {"properties": {"channel": {"const": "pinned"}}, "required": ["channel"]},
               "then": {"required": ["reason"], "properties": {"reason": {"pattern": r"\S"}}}},
    "Preflight": {"properties": {
        "identity": _whole(rf"({LOGIN})?"), "artifact-name": _holes(ARTIFACT_HOLES), "scripts": _items(_INSIDE),
        "patches": _items(_INSIDE), "skip": {"propertyNames": {"enum": list(get_args(Check))}}}},
    "Coupled": {"properties": {"source": _whole(f"({URL})?"), "images": _items(_GLOB),
                               **{name: _OF_PATHS for name in ("version", "commit", "wheel", "ref")}}},
    "Staging": {"properties": {"file": _whole(_PLACE), "url": _whole(f"({URL})?")}},
    "Launchers": {"properties": {
        "files": {"allOf": [_whole(rf"(|(?=.*\{{fleet\}}){_FLEET})")]},
        "facts": {"propertyNames": _whole(VARIABLE), "additionalProperties": _whole(_PATH)}, "models": _whole(f"({VARIABLE})?")}},
    "Capacity": {"properties": {"url": _whole(f"({URL})?")}},
    "Certify": {"properties": {"file": _whole(_PLACE)}},
    "Hint": {"oneOf": [{"required": [name], "properties": {name: _SPOKEN}} for name in ("use", "contains")]},
}


def schema() -> dict[str, Any]:
    """JSON Schema of a layout file."""
    made = msgspec.json.schema(Layout)
    for name, more in _MORE.items():
        made["$defs"][name] = _joined(made["$defs"][name], more)
    return made


def _joined(base: Any, more: Any) -> Any:
    """Both, key by key; alternatives that stand in order are joined one by one."""
    if isinstance(base, dict) and isinstance(more, dict):
        return {**base, **{key: _joined(base[key], value) if key in base else value for key, value in more.items()}}
    if isinstance(base, list) and isinstance(more, list) and len(base) == len(more):
        return [_joined(one, other) for one, other in zip(base, more, strict=True)]
    return more
