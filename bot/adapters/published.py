"""Published baselines: the InferenceX application's public API, or its answers kept in a file.

A recipe's published points are found by the image and the recipe fingerprint that their rows carry (the fingerprint
covers everything the generator wrote, the image too). The newest curve of a model may hold another topology, so when
the latest rows do not match, earlier days are asked one by one. What cannot be told is a note and never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import httpx
import msgspec
from msgspec import Struct

from bot.adapters.http import check, fetch, make_client, plain, retry_read
from bot.adapters.published_rows import (
    AGENTIC,
    Producer,
    dicts,
    eval_rows,
    newest,
    performance_rows,
    producer_of,
    text,
)
from bot.errors import BadInput, BumpbotError, Missing, Refusal
from bot.images.reference import canonical, parse
from bot.model.result import Accounting, Baseline, Row, Samples
from bot.ports import Clock
from bot.results.metrics import Metrics
from bot.strict import json_value

MAX_ANSWER, MAX_DAYS, TOTAL_S = 64_000_000, 12, 120.0
_PULL = re.compile(r"/pull/(\d{1,9})$")
_HASH = re.compile(r"[0-9a-f]{40}")

# A model's prefix in recipes and rows -> the name under which the API publishes it (CONTRACT.md 7.4). A model that is
# not here is asked for by the name it was given.
DISPLAY = {
    "dsr1": "DeepSeek-R1-0528", "gptoss120b": "gpt-oss-120b", "gptoss": "gpt-oss-120b", "dsv4": "DeepSeek-V4-Pro",
    "dsv4pro": "DeepSeek-V4-Pro", "llama70b": "Llama-3.3-70B-Instruct-FP8", "qwen3.5": "Qwen-3.5-397B-A17B",
    "kimik2.5": "Kimi-K2.5", "kimik2.6": "Kimi-K2.5", "kimik3": "Kimi-K3", "minimaxm2.5": "MiniMax-M2.5",
    "minimaxm2.7": "MiniMax-M2.5", "glm5": "GLM-5", "glm5.1": "GLM-5",
}


class Source(Protocol):
    """Answers of the API by route; `name` is where they come from, as it may be shown."""

    name: str

    def get(self, route: str, params: Mapping[str, str]) -> Any: ...

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

    def companion(self, run: int) -> Any:
        return self._ask(self._companion, {"run": str(run)}) if self._companion else None

    def _ask(self, address: str, params: Mapping[str, str]) -> Any:
        url = str(httpx.URL(address).copy_merge_params(dict(params)))
        now = self._clock.now().timestamp()
        return retry_read(self._clock, lambda: check(
            fetch(self._client, "GET", url, limit=MAX_ANSWER, total_s=TOTAL_S), plain(url), now=now)).json()


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

    def companion(self, run: int) -> Any:
        return next((held for held in dicts(self._answers.get("companions")) if held.get("run") == run), None)


class PublishedBaselines:
    """Satisfies the Published port over a source."""

    def __init__(self, source: Source, metrics: Metrics, *, display: Mapping[str, str] = DISPLAY) -> None:
        self._source, self._metrics, self._display = source, metrics, display

    def baseline(self, recipe: str, *, model: str, image: str, fingerprint: str) -> Baseline | None:
        """The newest published points with this image and fingerprint, and the evals of the run that made them.

        None when nothing published matches. Raises Unreachable when the API does not answer.
        """
        rows = self._matching(model, image, fingerprint)
        if not rows:
            return None
        producer = producer_of(rows)
        notes: list[str] = list(producer.notes)
        head, pull = self._origin(producer, notes)
        values = performance_rows(rows, recipe, producer, head, self._metrics)
        evals = self._evals(rows, recipe, producer, head, notes)
        accounting, samples = self._artifacts(producer, notes)
        return Baseline(
            date=producer.date, image=image, run=producer.run, attempt=producer.attempt, head=head, pull=pull,
            fingerprint=fingerprint, rows=(*values, *evals), accounting=accounting, samples=samples,
            source=f"{self._source.name}/benchmarks", notes=tuple(dict.fromkeys(notes)))

    def _matching(self, model: str, image: str, fingerprint: str) -> list[Mapping[str, Any]]:
        """The matching rows of the newest day that has any: first the latest answer, then the days of a sweep."""
        name = self._display.get(model, model)
        found = _match(self._benchmarks({"model": name}), image, fingerprint)
        for day in () if found else self._days(model, name):
            found = _match(self._benchmarks({"model": name, "date": day, "exact": "true"}), image, fingerprint)
            if found:
                break
        day = max((text(row.get("date")) for row in found), default="")
        return newest([row for row in found if row.get("date") == day])

    def _benchmarks(self, params: Mapping[str, str]) -> Sequence[Any]:
        try:
            told = self._source.get("benchmarks", params)
        except Refusal:  # 400: {"error": "Unknown model"}; nothing is published under this name
            return ()
        if not isinstance(told, list):
            raise BadInput(f"{self._source.name}/benchmarks: not a list of rows", "the API's answer has another shape")
        return told

    def _days(self, model: str, name: str) -> list[str]:
        """The newest days on which the model was published, from /availability; none when that does not answer."""
        try:
            told = self._source.get("availability", {})
        except BumpbotError:
            return []
        names = {model, name, *(key for key, shown in self._display.items() if shown == name)}
        days = {text(row.get("date")) for row in dicts(told) if row.get("model") in names}
        return sorted(days - {""}, reverse=True)[:MAX_DAYS]

    def _origin(self, producer: Producer, notes: list[str]) -> tuple[str | None, int | None]:
        """Head commit and pull request of the producing run: after a reuse the changelog belongs to the merge's run."""
        try:
            kind = {"benchmarkType": AGENTIC} if producer.agentic else {}
            told = self._source.get("workflow-info", {"date": producer.date} | kind)
        except BumpbotError:
            notes.append("origin-unknown")
            return None, None
        answers = told if isinstance(told, dict) else {}
        run = str(producer.run)
        ours = [c for c in dicts(answers.get("runConfigs")) if str(c.get("github_run_id")) == run]
        head = next((sha for c in ours if _HASH.fullmatch(sha := text(c.get("head_sha")))), None)
        ours = [c for c in dicts(answers.get("changelogs")) if str(c.get("workflow_run_id")) == run]
        pull = next((int(found[1]) for c in ours if (found := _PULL.search(text(c.get("pr_link"))))), None)
        missing = [what for what, value in (("head", head), ("pull", pull)) if value is None]
        notes += [f"{what}-unpublished:{run}" for what in missing]
        return head, pull

    def _evals(self, rows: Sequence[Mapping[str, Any]], recipe: str, producer: Producer, head: str | None,
               notes: list[str]) -> tuple[Row, ...]:
        try:
            told = self._source.get("evaluations", {})
        except BumpbotError:
            notes.append("evals-unknown")
            return ()
        found = eval_rows(dicts(told), rows, recipe, producer, head)
        if not found:
            notes.append("evals-unpublished")
        return found

    def _artifacts(self, producer: Producer, notes: list[str]) -> tuple[tuple[Accounting, ...], tuple[Samples, ...]]:
        """Requests and answers stand only in the producing run's artifacts, which live for 90 days."""
        try:
            told = self._source.companion(producer.run) if producer.run is not None else None
        except Missing:
            told = None
        if told is None:
            notes.append("requests-unpublished")
            return (), ()
        try:
            kept = msgspec.convert(told, _Artifacts, strict=True)
        except msgspec.ValidationError as error:
            raise BadInput(str(error), "correct the companion of the run", file=self._source.name) from None
        return kept.accounting, kept.samples


class _Artifacts(Struct, frozen=True, kw_only=True):
    """What is kept of a producing run's artifacts."""

    accounting: tuple[Accounting, ...] = ()
    samples: tuple[Samples, ...] = ()


def _match(rows: Sequence[Any], image: str, fingerprint: str) -> list[Mapping[str, Any]]:
    """Rows of this fingerprint and image; the image may be spelt in Docker's or Enroot's way."""
    wanted = canonical(parse(image))
    ours = [row for row in dicts(rows) if fingerprint and row.get("recipe_fingerprint") == fingerprint]
    return [row for row in ours if _named(text(row.get("image"))) == wanted]


def _named(image: str) -> str | None:
    try:
        return canonical(parse(image)) if image else None
    except BadInput:
        return None
