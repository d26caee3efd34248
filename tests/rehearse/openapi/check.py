"""Holds exchanges of the loopback GitHub against GitHub's own OpenAPI description, unknown keys included.

    checker = Checker()
    hub.exchanges.append(checker)
    ...
    checker.hold()        # fails with every difference seen

A schema alone lets a misspelt key through (GitHub's have no `additionalProperties: false`), so names are checked apart.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema_rs

from bot.rehearse.github import Exchange

HERE = Path(__file__).parent
MANY_SEGMENTS = {"ref", "basehead", "branch"}
METHOD_WORDS = ("get", "post", "patch", "put", "delete")


class Allowed(NamedTuple):
    """A difference that github.com has too: where, what, and how we know."""

    method: str
    path: str
    what: str
    why: str


# `what` is a status, or `request` (the body's shape), or `key NAME` of an answer, or `query NAME`.
ALLOWED = (
    Allowed("*", "*", "400", "a body that is no JSON is answered so everywhere"),
    Allowed("*", "*", "401", "bad credentials are answered everywhere, listed almost nowhere"),
    Allowed("*", "*", "403", "rate limits and missing rights are answered everywhere"),
    Allowed("*", "*", "404", "what a token may not see, or is not there, is 404 also where only success is listed"),
    Allowed(
        "*", "*", "key status", "github.com sends the status as text in every error; validation-error does not list it"
    ),
    Allowed("GET", "*", "304", "conditional requests work on every GET; few operations list 304"),
    Allowed(
        "POST",
        "/repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches",
        "422",
        "unknown inputs, more than 25, an unknown ref, or no such trigger; the description lists success only",
    ),
    Allowed(
        "POST",
        "/repos/{owner}/{repo}/issues/{issue_number}/labels",
        "request",
        "the bare array that PyGithub sends is taken, the description's items there are strings within an object",
    ),
    Allowed(
        "GET",
        "/repos/{owner}/{repo}/git/matching-refs/{ref}",
        "query per_page",
        "PyGithub sends it with every list; GitHub answers all at once",
    ),
)
# Values that github.com sends although its description's formats forbid them.
REAL_VALUES = (
    (re.compile(r'^"[^"@]+\[bot\]@users\.noreply\.github\.com" is not a "email"$'), "an App's commit address holds brackets"),
)
ERROR = "#/components/schemas/basic-error"
VALIDATION = "#/components/schemas/validation-error"


@cache
def description() -> dict[str, Any]:
    """The committed subset with `nullable` in the words of JSON Schema."""
    return _nullable(json.loads(gzip.decompress((HERE / "github.json.gz").read_bytes())))


def _nullable(value: Any) -> Any:
    if isinstance(value, list):
        return [_nullable(item) for item in value]
    if not isinstance(value, dict):
        return value
    made = {key: _nullable(item) for key, item in value.items() if not (key == "nullable" and isinstance(item, bool))}
    if value.get("nullable") is not True:
        return made
    if "enum" in made:
        made["enum"] = [*made["enum"], None]
    if isinstance(made.get("type"), str):
        return {**made, "type": [made["type"], "null"]}
    return {"anyOf": [made, {"type": "null"}]}


@cache
def _templates() -> list[tuple[re.Pattern[str], str]]:
    """Paths as patterns, those with more literal segments first."""
    def pattern(path: str) -> re.Pattern[str]:
        parts = re.split(r"\{(\w+)\}", path)
        many = [".*" if name == "path" else ".+" if name in MANY_SEGMENTS else "[^/]+" for name in parts[1::2]]
        texts = [re.escape(part) for part in parts[::2]]
        return re.compile("".join(a + b for a, b in zip(texts, [*many, ""], strict=True)))

    ordered = sorted(description()["paths"], key=lambda path: (path.count("{"), -len(path)))
    return [(pattern(path), path) for path in ordered]


def operation_of(method: str, path: str) -> tuple[str, dict[str, Any]] | None:
    """The template a path belongs to and what the description says of the method there."""
    for pattern, template in _templates():
        if pattern.fullmatch(path) and method.lower() in description()["paths"][template]:
            return template, description()["paths"][template][method.lower()]
    return None


@cache
def _validator(schema: str) -> jsonschema_rs.Draft202012Validator:
    whole = {**json.loads(schema), "components": description()["components"]}
    return jsonschema_rs.Draft202012Validator(whole, validate_formats=True)


def _wrong(schema: Mapping[str, Any], value: Any) -> Iterator[str]:
    for error in _validator(json.dumps(schema, sort_keys=True)).iter_errors(value):
        if any(pattern.match(error.message) for pattern, _ in REAL_VALUES):
            continue
        at = "/".join(str(part) for part in error.instance_path)
        yield f"{at or 'the body'}: {error.message[:200]}"


def resolve(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """A node with its `$ref`s followed."""
    while "$ref" in node:
        _, _, group, name = node["$ref"].split("/")
        node = description()["components"][group][name]
    return node


def _flat(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A schema and every alternative or part of it."""
    schema = resolve(schema)
    yield schema
    for word in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(word, ()):
            yield from _flat(part)


def _is(schema: Mapping[str, Any], kind: str) -> bool:
    said = schema.get("type")
    return kind in said if isinstance(said, list) else said in (kind, None)


def unknown_keys(schemas: list[Mapping[str, Any]], value: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """(place, key) of each key that none of the schemas knows."""
    flat = [part for schema in schemas for part in _flat(schema)]
    if isinstance(value, list):
        items = [part["items"] for part in flat if "items" in part]
        for index, item in enumerate(value if items else ()):
            yield from unknown_keys(items, item, f"{at}/{index}")
    if not isinstance(value, dict):
        return
    parts = [part for part in flat if _is(part, "object")]
    shaped = [part for part in parts if part.get("properties") or part.get("additionalProperties") not in (None, False)]
    if not shaped or any(part.get("additionalProperties") not in (None, False) for part in shaped):
        return
    for key, item in value.items():
        below = [part["properties"][key] for part in shaped if key in part.get("properties", {})]
        if not below:
            yield at, key
        else:
            yield from unknown_keys(below, item, f"{at}/{key}")


class Checker:
    """An observer of exchanges that remembers what differs from the description, and which operations it saw."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.seen: set[tuple[str, str, int]] = set()

    def __call__(self, exchange: Exchange) -> None:
        if exchange.path.startswith(("/_storage/", "/graphql")):
            return  # storage is another host on github.com; GraphQL has a description of its own
        found = operation_of(exchange.method, exchange.path)
        if found is None:
            if exchange.status != 404:
                self.problems.append(f"{exchange.method} {exchange.path}: no such operation, yet {exchange.status}")
            return
        template, operation = found
        self.seen.add((exchange.method, template, exchange.status))
        told = [*self._response(exchange, template, operation), *self._request(exchange, template, operation)]
        self.problems += [f"{exchange.method} {template} {exchange.status}: {text}" for text in told]

    def hold(self) -> None:
        """Fails with all differences at once."""
        assert self.seen, "no exchange was seen"
        assert not self.problems, "\n".join(dict.fromkeys(self.problems))

    def _response(self, exchange: Exchange, template: str, operation: Mapping[str, Any]) -> Iterator[str]:
        status = str(exchange.status)
        if status in operation["responses"]:
            answer = resolve(operation["responses"][status])
            schema = next((made["schema"] for kind, made in answer.get("content", {}).items() if "json" in kind), None)
        elif _allowed(exchange.method, template, status):
            schema = (
                None
                if status == "304"
                else {"$ref": VALIDATION if status == "422" and _has_errors(exchange.value) else ERROR}
            )
        else:
            yield "this status is not documented here"
            return
        if schema is None:
            if exchange.value is not None:
                yield "a body where none is documented"
            return
        yield from _wrong(schema, exchange.value)
        for at, key in unknown_keys([schema], exchange.value):
            if not _allowed(exchange.method, template, f"key {key}"):
                yield f"unknown key {at}/{key}"

    def _request(self, exchange: Exchange, template: str, operation: Mapping[str, Any]) -> Iterator[str]:
        """What an accepted request sent that the description does not know: body and query."""
        if exchange.status >= 400:
            return
        names = {resolve(given)["name"] for given in operation.get("parameters", ()) if resolve(given)["in"] == "query"}
        yield from (f"unknown query parameter {name}" for name in exchange.query
                    if name not in names and not _allowed(exchange.method, template, f"query {name}"))
        content = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if exchange.sent is None or _allowed(exchange.method, template, "request") and isinstance(exchange.sent, list):
            return
        if content is None:
            if exchange.sent != {}:
                yield "a request body where none is documented"
            return
        yield from (f"request {text}" for text in _wrong(content["schema"], exchange.sent))
        yield from (
            f"request has unknown key {at}/{key}" for at, key in unknown_keys([content["schema"]], exchange.sent)
        )


def _has_errors(value: Any) -> bool:
    return isinstance(value, dict) and "errors" in value


def _allowed(method: str, template: str, what: str) -> bool:
    return any(
        entry.method in ("*", method) and entry.path in ("*", template) and entry.what == what for entry in ALLOWED
    )
