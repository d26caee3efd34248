"""What the tests of the server ask: one question, plain and streamed, and the pieces that come back."""

from __future__ import annotations

import json
from typing import Any

import httpx

MODEL = "m"
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "required": ["city", "days"],
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"enum": ["C", "F"]}}}}}
# Making a client costs more than all that is asked of it.
CLIENT = httpx.Client(trust_env=False, verify=False, timeout=5)
FAST = ("--model", MODEL, "--ttft-ms", "1", "--itl-ms", "0", "--tokenizer", "plain")


def chat(content: Any, **more: Any) -> dict[str, Any]:
    return {"model": MODEL, "messages": [{"role": "user", "content": content}], **more}


def fixed(tokens: int, **more: Any) -> dict[str, Any]:
    return chat("Tell me something", max_tokens=tokens, ignore_eos=True, **more)


def post(url: str, body: Any, *, chat: bool = True, timeout: float = 5.0) -> httpx.Response:
    return CLIENT.post(f"{url}/v1/{'chat/' if chat else ''}completions", json=body, timeout=timeout)


def get(url: str) -> httpx.Response:
    return CLIENT.get(url)


def first(response: httpx.Response) -> Any:
    return response.json()["choices"][0]


class Streamed:
    """A streamed answer put together, as a client does; raises what the connection raises."""

    def __init__(self, url: str, body: dict[str, Any], *, chat: bool = True) -> None:
        body = {**body, "stream": True, "stream_options": {"include_usage": True}}
        self.text, self.arguments, self.name = "", "", ""
        self.finish: str | None = None
        self.usage: dict[str, int] | None = None
        self.done = False
        self.pieces = 0
        self.role = None
        with CLIENT.stream("POST", f"{url}/v1/{'chat/' if chat else ''}completions", json=body) as answer:
            for line in answer.iter_lines():
                if line == "data: [DONE]":
                    self.done = True
                elif line.startswith("data: "):
                    self._take(json.loads(line.removeprefix("data: ")), chat)

    def _take(self, chunk: dict[str, Any], chat: bool) -> None:
        self.usage = chunk.get("usage") or self.usage
        for choice in chunk["choices"]:
            delta = choice["delta"] if chat else {"content": choice["text"]}
            self.role = delta.get("role") or self.role
            self.text += delta.get("content") or ""
            self.pieces += bool(delta.get("content"))
            for call in delta.get("tool_calls", ()):
                self.name += call["function"].get("name", "")
                self.arguments += call["function"]["arguments"]
            self.finish = choice["finish_reason"] or self.finish
