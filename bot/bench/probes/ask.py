"""One question to the server, asked in one piece or streamed; its answer, or in which way there was none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, structs

from bot.bench.probes.reply import Reply, Wrong, error, streamed, told, whole
from bot.errors import BadInput, Unreachable
from bot.ports import Web

__all__ = ["Asker", "Silent", "Wrong"]


class Silent(Exception):
    """No whole answer came: refused, cut off in the middle, or not in time."""


class Asker(Struct, frozen=True, kw_only=True):
    """Asks `url` as `model`, at most `tokens` an answer, and waits `limit_s` for it."""

    web: Web
    url: str
    model: str
    tokens: int
    limit_s: float
    stream: bool = False

    def streaming(self, stream: bool) -> Asker:
        """The same, streamed or not."""
        return structs.replace(self, stream=stream)

    def within(self, limit_s: float) -> Asker:
        """The same with another limit."""
        return structs.replace(self, limit_s=limit_s)

    def __call__(self, messages: list[dict[str, Any]], **told_too: Any) -> Reply:
        """The answer to a chat. Greedy, so that one question has one answer."""
        body: dict[str, Any] = {"model": self.model, "messages": messages, "temperature": 0, "max_tokens": self.tokens, **told_too}
        address = f"{self.url}/v1/chat/completions"
        try:
            return self._streamed(address, body) if self.stream else self._plain(address, body)
        except Unreachable as why:
            raise Silent(told(why.reason.removeprefix(f"{address}: "), 120, quote=False)) from None
        except BadInput as why:
            raise Wrong(told(why.reason, 120, quote=False)) from None

    def _plain(self, address: str, body: Mapping[str, Any]) -> Reply:
        answer = self.web.post(address, body, limit_s=self.limit_s)
        if answer.status != 200:
            raise error(answer.status, answer.body)
        return whole(answer.body, self.tokens)

    def _streamed(self, address: str, body: Mapping[str, Any]) -> Reply:
        asked = {**body, "stream": True, "stream_options": {"include_usage": True}}
        status, lines = self.web.stream(address, asked, limit_s=self.limit_s)
        if status != 200:
            raise error(status, b"\n".join(lines))
        return streamed(lines, self.tokens)
