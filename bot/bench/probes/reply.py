"""An answer of `/v1/chat/completions`, in one piece or many, as one record; what does not hold of any answer is said here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from bot.errors import BadInput
from bot.strict import json_value

MOST_CHUNKS = 200_000


class Wrong(Exception):
    """An answer that does not hold, in one line. `unsupported`: the server refused what was asked for, and not the answer;
    `failed`: it failed at it; `passing`: in a way that may be another one a moment later."""

    def __init__(self, said: str, *, unsupported: bool = False, failed: bool = False, passing: bool = False) -> None:
        self.unsupported, self.failed, self.passing = unsupported, failed, passing
        super().__init__(said)


class Call(Struct, frozen=True, kw_only=True):
    id: str
    name: str
    arguments: str


class Reply(Struct, frozen=True, kw_only=True):
    """`tokens` are those that the server counted for its answer; `said` and `thought` its text."""

    said: str
    thought: str
    calls: tuple[Call, ...]
    finish: str
    tokens: int

    @property
    def answer(self) -> str:
        """The text behind what a model thought aloud, where no parser of the server took that away."""
        return self.said.rpartition("</think>")[2].strip()

    @property
    def cut_in_thought(self) -> bool:
        """Whether the tokens ran out before the answer began."""
        return self.finish == "length" and not self.answer and not self.calls


def told(text: str, most: int = 80, *, quote: bool = True) -> str:
    """Untrusted text in a line of ours: ASCII, control characters escaped, cut."""
    cut = text if len(text) <= most else f"{text[:most]}..."
    plain = json.dumps(cut)
    return plain if quote else plain[1:-1].replace('\\"', '"').replace("\\\\", "\\")


def whole(body: bytes, most: int) -> Reply:
    """The answer that came in one piece; `most` is how many tokens it may have."""
    record = _object(body, "the answer")
    choice = _choice(record)
    if choice is None:
        raise Wrong("no choices in the answer")
    message = choice.get("message")
    if not isinstance(message, dict):
        raise Wrong("no message in the answer")
    calls = message.get("tool_calls")
    return Reply(said=_text(message, "content"), thought=_text(message, "reasoning_content", "reasoning"),
                 calls=tuple(_call(call) for call in calls or () if isinstance(call, dict)) if isinstance(calls, list) else (),
                 finish=_finish(choice.get("finish_reason")), tokens=_tokens(record.get("usage"), most))


def streamed(lines: Iterable[bytes], most: int) -> Reply:
    """The answer put together from its pieces; tool calls by their index."""
    said: list[str] = []
    thought: list[str] = []
    calls: dict[int, dict[str, str]] = {}
    finish, usage, done, chunks = None, None, False, 0
    for data in _events(lines):
        if data == b"[DONE]":
            done = True
            break
        chunks += 1
        if chunks > MOST_CHUNKS:
            raise Wrong(f"a stream of more than {MOST_CHUNKS} pieces")
        record = _object(data, "a piece of the stream")
        usage = record.get("usage") or usage
        choice = _choice(record)
        if choice is None:
            continue
        finish = choice.get("finish_reason") or finish
        delta = choice.get("delta")
        if isinstance(delta, dict):
            said.append(_text(delta, "content"))
            thought.append(_text(delta, "reasoning_content", "reasoning"))
            _add(calls, delta.get("tool_calls"))
    if not chunks:
        raise Wrong("a stream without a single piece")
    if not done:
        raise Wrong("the stream ended without [DONE]" if finish else "the stream was cut: no finish reason and no [DONE]")
    return Reply(said="".join(said), thought="".join(thought), finish=_finish(finish), tokens=_tokens(usage, most),
                 calls=tuple(Call(**calls[index]) for index in sorted(calls)))


def error(status: int, body: bytes) -> Wrong:
    """What a status that is no answer says. 400, 404, 422 and 501 are about the request; the rest is a server that failed."""
    said = _message(body)
    refused = status in (400, 404, 422, 501)
    return Wrong(f"status {status}{f': {told(said)}' if said else ''}", unsupported=refused, failed=not refused,
                 passing=status >= 500 and not refused)


def _message(body: bytes) -> str:
    try:
        record = json_value(body[:65_536].decode("utf-8", "replace"), file="answer")
    except BadInput:
        return body[:400].decode("utf-8", "replace").strip()
    for key in ("error", "message", "detail"):
        if isinstance(record, dict) and record.get(key):
            record = record[key]
    return record if isinstance(record, str) else json.dumps(record)


def _events(lines: Iterable[bytes]) -> Iterable[bytes]:
    """The data of server-sent events; comments (keep-alive) and other fields are passed over."""
    for line in lines:
        field, _, value = line.strip(b"\r\n").partition(b":")
        if field == b"data" and (data := value.strip()):
            yield data


def _object(data: bytes, what: str) -> Mapping[str, Any]:
    try:
        record = json_value(data.decode("utf-8"), file=what)
    except (UnicodeDecodeError, BadInput):
        raise Wrong(f"{what} is no JSON: {told(data[:400].decode('utf-8', 'replace'))}") from None
    if not isinstance(record, dict):
        raise Wrong(f"{what} is no object")
    if record.get("error"):
        raise Wrong(f"an error in place of {what}: {told(_message(data))}")
    return record


def _choice(record: Mapping[str, Any]) -> Mapping[str, Any] | None:
    choices = record.get("choices")
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None


def _text(message: Mapping[str, Any], *names: str) -> str:
    return next((value for name in names if isinstance(value := message.get(name), str) and value), "")


def _finish(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise Wrong("no finish reason")
    return value


def _tokens(usage: Any, most: int) -> int:
    tokens = usage.get("completion_tokens") if isinstance(usage, dict) else None
    if isinstance(tokens, bool) or not isinstance(tokens, int):
        raise Wrong("no usage")
    if not 0 < tokens <= most:
        raise Wrong(f"usage says {tokens} tokens of at most {most}")
    return tokens


def _call(call: Mapping[str, Any]) -> Call:
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    return Call(id=_text(call, "id"), name=_text(function, "name"), arguments=_text(function, "arguments"))


def _add(calls: dict[int, dict[str, str]], deltas: Any) -> None:
    for delta in deltas if isinstance(deltas, list) else ():
        if not isinstance(delta, dict):
            continue
        index = delta.get("index")
        part = _call(delta)
        known = calls.setdefault(index if isinstance(index, int) else 0, {"id": "", "name": "", "arguments": ""})
        known["id"] = known["id"] or part.id
        known["name"] = known["name"] or part.name  # told once; some servers tell it with every piece
        known["arguments"] += part.arguments
