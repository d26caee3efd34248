"""Where the published-baseline API's answers come from: over HTTP, or kept in one JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import httpx

from bot.adapters.http import check, fetch, make_client, plain, retry_read
from bot.adapters.published_rows import dicts
from bot.errors import BadInput, Missing
from bot.ports import Clock
from bot.strict import json_value

MAX_ANSWER, TOTAL_S = 64_000_000, 120.0


class Source(Protocol):
    """Answers of the API by route; `name` is where they come from, as it may be shown. Missing for a route or a model that
    there is not."""

    name: str

    def get(self, route: str, params: Mapping[str, str]) -> Any: ...

    def description(self) -> Any:
        """The API's description of itself."""
        ...

    def companion(self, run: int) -> Any: ...


class ApiSource:
    """The API over HTTP. `companion_url` serves what only the producing run's artifacts tell (rehearsals have one)."""

    def __init__(self, clock: Clock, *, base_url: str = "https://inferencex.semianalysis.com/api/v1",
                 client: httpx.Client | None = None, companion_url: str | None = None) -> None:
        self.name, self._clock = base_url.rstrip("/"), clock
        self._client = client or make_client()
        self._companion = companion_url

    def get(self, route: str, params: Mapping[str, str]) -> Any:
        return self._ask(f"{self.name}/{route}", params)

    def description(self) -> Any:
        return self._ask(f"{self.name.rpartition('/')[0]}/openapi.json", {})

    def companion(self, run: int) -> Any:
        return self._ask(self._companion, {"run": str(run)}) if self._companion else None

    def _ask(self, address: str, params: Mapping[str, str]) -> Any:
        url = str(httpx.URL(address).copy_merge_params(dict(params)))
        now = self._clock.now().timestamp()

        def read() -> Any:
            answer = fetch(self._client, "GET", url, limit=MAX_ANSWER, total_s=TOTAL_S)
            if answer.status == 400:  # {"error": "Unknown model"}
                raise Missing(f"{plain(url)}: the server does not know that (400)", "check the name")
            return check(answer, plain(url), now=now)

        return retry_read(self._clock, read).json()


class FileSource:
    """Answers kept in one JSON document: `{"benchmarks": [...], "evaluations": [...], "workflow-info": {...}}`, or the
    list of benchmark rows alone. It holds what it holds: the query narrows nothing but the day."""

    def __init__(self, text: str, *, name: str) -> None:
        self.name = name
        told = json_value(text, file=name)
        self._answers: Mapping[str, Any] = told if isinstance(told, dict) else {"benchmarks": told}
        if not isinstance(self._answers.get("benchmarks"), list):
            raise BadInput("no list of `benchmarks`", "keep the API's answers by the name of their route", file=name)

    def get(self, route: str, params: Mapping[str, str]) -> Any:
        if route not in self._answers:
            raise Missing(f"{self.name}: no answer of {route}", "add it under the route's name")
        told = self._answers[route]
        day = params.get("date") if params.get("exact") == "true" else None
        return [row for row in dicts(told) if row.get("date") == day] if day else told

    def description(self) -> Any:
        return self._answers.get("openapi")

    def companion(self, run: int) -> Any:
        return next((held for held in dicts(self._answers.get("companions")) if held.get("run") == run), None)
