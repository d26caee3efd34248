"""The probes: what is asked, and what must hold of the answer. One more is one more row of PROBES."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from bot.bench.probes.ask import Asker
from bot.bench.probes.reply import Call, Reply, Wrong, told
from bot.errors import BadInput
from bot.strict import json_value


class Unsure(Exception):
    """It cannot be told from this answer, and why."""


class Probe(Struct, frozen=True, kw_only=True):
    """`holds` asks and raises Wrong, Silent or Unsure."""

    name: str
    holds: Callable[[Asker], None]


COUNTED = "Count from 1 to 12. Write the numbers only, separated by single spaces."
TOWN = "Describe the town of Delft as JSON with its name, the country it lies in, and whether it has canals."
TOWN_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "country": {"type": "string"}, "canals": {"type": "boolean"}},
    "required": ["name", "country", "canals"],
    "additionalProperties": False,
}
WEATHER = "What is the weather in Paris right now? Look it up with the tool."
WEATHER_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "The city, e.g. Berlin"}},
    "required": ["city"],
    "additionalProperties": False,
}
WEATHER_TOOL = {"type": "function", "function": {
    "name": "get_weather", "description": "The present weather of a city.", "parameters": WEATHER_SCHEMA}}
WEATHER_NOW = '{"city": "Paris", "temperature_celsius": 21, "sky": "clear"}'
_KINDS: Mapping[str, type | tuple[type, ...]] = {"string": str, "boolean": bool, "object": dict}


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def _chat(ask: Asker) -> None:
    reply = ask([_user(COUNTED)])
    if not (reply.answer or reply.thought or reply.said):
        raise Wrong("an empty answer")
    if ask.stream:
        _same(ask, reply)


def _same(ask: Asker, reply: Reply) -> None:
    """Whether the pieces make the text that comes in one. Two plain answers that differ say nothing: the server is not the same
    twice, as many are not whose batches differ."""
    plain = ask.streaming(False)([_user(COUNTED)])
    if _numbers(plain.answer) == _numbers(reply.answer):
        return
    if _numbers(plain.answer) != _numbers(ask.streaming(False)([_user(COUNTED)]).answer):
        raise Unsure("the server answers one question in several ways, so its stream cannot be compared")
    if _numbers(ask([_user(COUNTED)]).answer) != _numbers(plain.answer):
        raise Wrong(f"streamed it is {told(reply.answer, 40)}, in one piece {told(plain.answer, 40)}")


def _numbers(text: str) -> str:
    """The text without its blanks, which a stream may set otherwise at the ends of pieces."""
    return re.sub(r"\s+", "", text)


def _json_object(ask: Asker) -> None:
    value = _parsed(ask([_user(TOWN)], response_format={"type": "json_object"}))
    if not isinstance(value, dict):
        raise Wrong("JSON, but no object")


def _json_schema(ask: Asker) -> None:
    asked = {"type": "json_schema", "json_schema": {"name": "town", "strict": True, "schema": TOWN_SCHEMA}}
    _fits(_parsed(ask([_user(TOWN)], response_format=asked)), TOWN_SCHEMA, "the answer")


def _parsed(reply: Reply) -> Any:
    if reply.cut_in_thought:
        raise Unsure(f"it was still thinking after {reply.tokens} tokens")
    text = reply.answer
    if not text:
        raise Wrong("an empty answer")
    try:
        return json_value(text, file="answer")
    except BadInput:
        raise Wrong(f"no JSON: {told(text)}") from None


def _fits(value: Any, schema: Mapping[str, Any], what: str) -> None:
    if not isinstance(value, dict):
        raise Wrong(f"{what}: no object")
    lacking = [name for name in schema["required"] if name not in value]
    if lacking:
        raise Wrong(f"{what}: no {', '.join(lacking)}")
    if len(value) > len(schema["properties"]):
        raise Wrong(f"{what}: more than its schema has")
    for name, kind in schema["properties"].items():
        if name in value and not isinstance(value[name], _KINDS[kind["type"]]):
            raise Wrong(f"{what}: {name} is no {kind['type']}")


def _tool_call(ask: Asker) -> None:
    question = [_user(WEATHER)]
    reply = ask(question, tools=[WEATHER_TOOL], tool_choice="auto")
    calls = _called(reply)
    said = {"role": "assistant", "content": reply.answer, "tool_calls": [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}} for call in calls]}
    results = [{"role": "tool", "tool_call_id": call.id, "content": WEATHER_NOW} for call in calls]
    last = ask([*question, said, *results], tools=[WEATHER_TOOL], tool_choice="auto")
    if last.cut_in_thought:
        raise Unsure(f"after the tool's result it was still thinking after {last.tokens} tokens")
    if last.calls:
        raise Wrong("the tool's result was answered with another call")
    if not last.answer:
        raise Wrong("the tool's result was answered with nothing")


def _called(reply: Reply) -> tuple[Call, ...]:
    if reply.cut_in_thought:
        raise Unsure(f"it was still thinking after {reply.tokens} tokens")
    if not reply.calls:
        raise Wrong(f"no tool call, but {told(reply.answer)}")
    if reply.finish != "tool_calls":
        raise Wrong(f"a tool call with finish reason {told(reply.finish, 30)}")
    for call in reply.calls:
        if call.name != "get_weather":
            raise Wrong(f"a call of {told(call.name, 40)}, which is no tool it was given")
        if not call.id:
            raise Wrong("a tool call without an id")
        try:
            value = json_value(call.arguments, file="arguments")
        except BadInput:
            raise Wrong(f"the call's arguments are no JSON: {told(call.arguments)}") from None
        _fits(value, WEATHER_SCHEMA, "the call's arguments")
    if len({call.id for call in reply.calls}) < len(reply.calls):
        raise Wrong("two tool calls with one id")
    return reply.calls


PROBES: Mapping[str, tuple[Probe, ...]] = {
    "stream": (Probe(name="chat", holds=_chat),),
    "json": (Probe(name="json_object", holds=_json_object), Probe(name="json_schema", holds=_json_schema)),
    "tools": (Probe(name="tool call", holds=_tool_call),),
}
