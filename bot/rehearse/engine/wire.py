"""The shapes of OpenAI's API: whole answers, and the chunks of a streamed one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from bot.rehearse.engine.answers import Answer, Wanted

DONE = b"data: [DONE]\n\n"


def usage(wanted: Wanted, answers: list[Answer]) -> dict[str, int]:
    """Tokens as the server counted them."""
    made = sum(len(answer.pieces) for answer in answers)
    return {"prompt_tokens": wanted.prompt_tokens, "completion_tokens": made, "total_tokens": wanted.prompt_tokens + made}


class Shape:
    """One request's answers on the wire. `whole` False leaves finish_reason out, `counted` False usage."""

    def __init__(self, wanted: Wanted, answers: list[Answer], *, number: int, now: float, model: str, whole: bool,
                 counted: bool) -> None:
        self._wanted, self._answers, self._whole, self._counted = wanted, answers, whole, counted
        prefix = "chatcmpl" if wanted.chat else "cmpl"
        self._id, self._base = f"{number:08x}", {"id": f"{prefix}-{number:08x}", "created": int(now), "model": model}

    def plain(self) -> dict[str, Any]:
        """The body of an answer that is not streamed."""
        kind = "chat.completion" if self._wanted.chat else "text_completion"
        body = {**self._base, "object": kind, "choices": [self._choice(at, each) for at, each in enumerate(self._answers)]}
        return {**body, "usage": usage(self._wanted, self._answers)} if self._counted else body

    def steps(self) -> int:
        """How many tokens the longest answer has: each is a step of time."""
        return max((len(answer.pieces) for answer in self._answers), default=0)

    def chunks(self, step: int) -> Iterator[bytes]:
        """The events of one step, all choices."""
        for index, answer in enumerate(self._answers):
            last = step == len(answer.pieces) - 1
            if step == 0 and self._wanted.chat:
                yield self._event(index, {"role": "assistant", "content": None if answer.tool else ""})
            if step == 0 and answer.tool:
                yield self._event(index, {"tool_calls": [self._call(index, answer, "")]})
            if step < len(answer.pieces):
                yield self._event(index, self._delta(answer, answer.pieces[step]), self._finish(answer) if last else None)

    def end(self) -> Iterator[bytes]:
        """What follows the last token."""
        for index, answer in enumerate(self._answers):
            if not answer.pieces:
                yield self._event(index, {"content": ""} if self._wanted.chat else "", self._finish(answer))
        if self._wanted.usage and self._counted:
            yield self._data({"choices": [], "usage": usage(self._wanted, self._answers)})
        yield DONE

    def _finish(self, answer: Answer) -> str | None:
        return answer.finish if self._whole else None

    def _choice(self, index: int, answer: Answer) -> dict[str, Any]:
        choice: dict[str, Any] = {"index": index, "finish_reason": self._finish(answer), "logprobs": None}
        text = "".join(answer.pieces)
        if not self._wanted.chat:
            return {**choice, "text": text}
        message = {"role": "assistant", "content": None if answer.tool else text}
        return {**choice, "message": {**message, "tool_calls": [self._call(index, answer, text)]} if answer.tool else message}

    def _call(self, index: int, answer: Answer, arguments: str) -> dict[str, Any]:
        call = {"id": f"call_{self._id}_{index}", "type": "function", "function": {"name": answer.tool, "arguments": arguments}}
        return {"index": 0, **call} if self._wanted.stream else call

    def _delta(self, answer: Answer, piece: str) -> Any:
        if answer.tool:
            return {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}
        return {"content": piece} if self._wanted.chat else piece

    def _event(self, index: int, delta: Any, finish: str | None = None) -> bytes:
        inner = {"delta": delta} if self._wanted.chat else {"text": delta}
        return self._data({"choices": [{"index": index, **inner, "logprobs": None, "finish_reason": finish}]})

    def _data(self, body: dict[str, Any]) -> bytes:
        kind = "chat.completion.chunk" if self._wanted.chat else "text_completion"
        return b"data: " + msgspec.json.encode({**self._base, "object": kind, **body}) + b"\n\n"
