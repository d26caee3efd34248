"""What the server answers: a request read, and the pieces (tokens) that its answer is made of."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from bot.rehearse.engine.options import Options
from bot.rehearse.engine.schema import Filled, arithmetic
from bot.rehearse.engine.tokens import Tokens

NATURAL, CUT_COMPLETION = 24, 16
"""Tokens of an answer whose length nothing fixes, and of a completion that says no max_tokens (OpenAI's default)."""


class Wanted(Struct, frozen=True, kw_only=True):
    """A request as far as it decides the answer. `most` None: as long as comes naturally; `least` is min_tokens, or `most`
    where ignore_eos is set."""

    chat: bool
    prompts: tuple[str, ...]
    prompt_tokens: int
    most: int | None
    least: int
    stops: tuple[str, ...] = ()
    tool: Mapping[str, Any] | None = None
    schema: Any = None
    stream: bool = False
    usage: bool = False
    model: str = ""

    @property
    def fixed(self) -> bool:
        return self.least > 0


class Answer(Struct, frozen=True, kw_only=True):
    """One choice: its tokens in order. With `tool`, they are the arguments of that function's call."""

    pieces: tuple[str, ...]
    finish: str | None
    tool: str = ""


class Unfit(Exception):
    """A request that an engine answers with 400; the words say why."""


def read(body: Any, *, chat: bool, tokens: Tokens) -> Wanted:
    """A request's body; Unfit says what an engine would refuse."""
    if not isinstance(body, dict):
        raise Unfit("the body is no JSON object")
    prompts, counted = _messages(body, tokens) if chat else _prompts(body, tokens)
    most = body.get("max_completion_tokens") or body.get("max_tokens")
    most = CUT_COMPLETION if most is None and not chat else most
    least = body.get("min_tokens") or 0
    if not all(value is None or (isinstance(value, int) and 0 <= value < 1e7) for value in (most, least)):
        raise Unfit("max_tokens and min_tokens are whole numbers")
    if body.get("ignore_eos") and most:
        least = most
    stops = body.get("stop") or ()
    options = body.get("stream_options")
    return Wanted(
        chat=chat, prompts=prompts * max(1, min(64, int(body.get("n") or 1))), prompt_tokens=counted, most=most, least=least,
        stops=tuple(stop for stop in ([stops] if isinstance(stops, str) else stops) if isinstance(stop, str) and stop),
        tool=_tool(body, prompts[-1]) if chat else None, schema=_schema(body), stream=bool(body.get("stream")),
        usage=isinstance(options, dict) and bool(options.get("include_usage")), model=str(body.get("model") or ""))


class Author:
    """Answers of one server: the same question is always answered the same way, right or wrong."""

    def __init__(self, options: Options, tokens: Tokens) -> None:
        self._options, self._tokens = options, tokens
        self._wrong: set[str] = set()
        self._asked: set[str] = set()

    def answers(self, wanted: Wanted, request: int) -> list[Answer]:
        """One answer a prompt, with the faults that this request is for."""
        return [self._one(wanted, prompt, request) for prompt in wanted.prompts]

    def _one(self, wanted: Wanted, prompt: str, request: int) -> Answer:
        def hit(name: str) -> bool:
            return self._options.faults.hits(name, request)

        if wanted.tool is not None and not hit("no-tool-call"):
            text = _json(Filled(prompt).value(wanted.tool.get("parameters") or {"type": "object"}))
            cut = hit("bad-tool-call") or (wanted.stream and hit("stream-differs"))
            return Answer(pieces=tuple(self._tokens.pieces(_cut(text) if cut else text)), finish="tool_calls",
                          tool=str(wanted.tool.get("name")))
        if wanted.schema is not None:
            text = _json(Filled(prompt).value(wanted.schema))
            pieces = self._tokens.pieces(_cut(text) if hit("bad-json") else text)
        elif (result := arithmetic(prompt)) is not None:
            pieces = self._tokens.pieces(f"#### {self._given(prompt, result)}")
        else:
            pieces = []
        return self._long(wanted, prompt, pieces, short=hit("wrong-length"))

    def _given(self, question: str, result: int) -> int:
        question = question.strip()
        if question not in self._asked:
            self._asked.add(question)
            share = zlib.crc32(question.encode("utf-8", "replace")) / 2**32
            if len(self._wrong) < self._options.wrong or share < self._options.wrong_share:
                self._wrong.add(question)
        return result + 1 if question in self._wrong else result

    def _long(self, wanted: Wanted, prompt: str, pieces: list[str], *, short: bool) -> Answer:
        words = self._tokens.words
        begin = zlib.crc32(prompt.encode("utf-8", "replace"))
        natural = len(pieces) or NATURAL
        length = max(wanted.least, natural)
        finish = "stop"
        if wanted.most is not None and length >= wanted.most:
            length, finish = wanted.most, "length" if wanted.fixed or natural > wanted.most else "stop"
        pieces = [*pieces, *(words[(begin + at) % len(words)] for at in range(len(pieces), length))][:length]
        if short:
            pieces, finish = pieces[:max(1, len(pieces) // 2)], "stop"
        return _stopped(pieces, finish, () if wanted.fixed else wanted.stops)


def _stopped(pieces: Sequence[str], finish: str, stops: Sequence[str]) -> Answer:
    text = "".join(pieces)
    ends = [at for stop in stops if (at := text.find(stop)) >= 0]
    if not ends:
        return Answer(pieces=tuple(pieces), finish=finish)
    kept, left = [], min(ends)
    for piece in pieces:
        if left <= 0:
            break
        kept.append(piece[:left])
        left -= len(piece)
    return Answer(pieces=tuple(kept), finish="stop")


def _cut(text: str) -> str:
    """Without its last third, and never valid JSON by accident."""
    return text[:max(1, len(text) * 2 // 3)].rstrip("}]\"0123456789") or "{"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _messages(body: Mapping[str, Any], tokens: Tokens) -> tuple[tuple[str, ...], int]:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(each, dict) for each in messages):
        raise Unfit("messages is no list of messages")
    texts = [_content(each.get("content")) for each in messages]
    asked = [text for text, each in zip(texts, messages, strict=True) if each.get("role") in ("user", None)]
    return (asked[-1] if asked else texts[-1],), sum(map(tokens.count, texts))


def _content(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _prompts(body: Mapping[str, Any], tokens: Tokens) -> tuple[tuple[str, ...], int]:
    """A text, texts, ids, or lists of ids, as OpenAI's completions take them."""
    given = body.get("prompt")
    if isinstance(given, str):
        given = [given]
    elif isinstance(given, list) and given and all(isinstance(each, int) for each in given):
        given = [given]
    if not isinstance(given, list) or not given:
        raise Unfit("prompt is neither text nor token ids")
    texts, counted = [], 0
    for each in given:
        if isinstance(each, str):
            texts.append(each)
            counted += tokens.count(each)
        elif isinstance(each, list) and all(isinstance(one, int) and 0 <= one < 2**31 for one in each):
            texts.append(tokens.text(each))
            counted += len(each)
        else:
            raise Unfit("prompt is neither text nor token ids")
    return tuple(texts), counted


def _tool(body: Mapping[str, Any], question: str) -> Mapping[str, Any] | None:
    """The function to call: the one that is named, else the first that the question speaks of, else the first. None where no
    tool is given or wanted, or where the last message is already a tool's answer."""
    choice, messages = body.get("tool_choice"), body["messages"]
    functions = [each["function"] for each in body.get("tools") or () if isinstance(each, dict)
                 and isinstance(each.get("function"), dict)]
    if not functions or choice == "none" or messages[-1].get("role") == "tool":
        return None
    if isinstance(choice, dict):
        name = (choice.get("function") or {}).get("name")
        return next((each for each in functions if each.get("name") == name), None)
    spoken = [each for each in functions
              if any(word and word in question.lower() for word in str(each.get("name")).lower().split("_"))]
    return (spoken or functions)[0]


def _schema(body: Mapping[str, Any]) -> Any:
    """What the answer has to fit, by OpenAI's, vLLM's or SGLang's key; None where it is free."""
    form = body.get("response_format")
    if isinstance(form, dict) and form.get("type") == "json_schema":
        inner = form.get("json_schema")
        return (inner.get("schema") if isinstance(inner, dict) else None) or {"type": "object"}
    if isinstance(form, dict) and form.get("type") == "json_object":
        return {"type": "object", "properties": {"answer": {"type": "string"}}}
    outputs = body.get("structured_outputs")
    given = (outputs.get("json") if isinstance(outputs, dict) else None) or body.get("guided_json") or body.get("json_schema")
    try:
        return json.loads(given) if isinstance(given, str) else given
    except ValueError:
        raise Unfit("the schema is no JSON") from None
