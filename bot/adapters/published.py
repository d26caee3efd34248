"""Published baselines: the InferenceX application's public API, or its answers kept in a file.

The latest answer shows one curve a model, which may hold another topology or lack the points that its last run did not
repeat, so the whole history is asked, and single days where there is none to be had. The API asks not to be polled: a
question costs at most LIMIT requests, and none twice. What cannot be told is a note and never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from bot.adapters.published_names import DISPLAY, key_of, shown
from bot.adapters.published_rows import AGENTIC, Point, Producer, dicts, eval_rows, performance_rows, points, text
from bot.adapters.published_sources import ApiSource, FileSource, Source
from bot.baseline.identity import agrees
from bot.baseline.match import same_image
from bot.errors import BadInput, BumpbotError, Missing, Refusal, Unreachable
from bot.model.baseline import Aside, Configuration, Offer, Question
from bot.model.result import Accounting, Baseline, Row, Samples
from bot.results.inferencex.published import sized
from bot.results.lines import hardware
from bot.results.metrics import Metrics
from bot.results.topology import topology, workload

__all__ = ["ApiSource", "FileSource", "PublishedBaselines", "Source"]

LIMIT = 12
_PULL = re.compile(r"/pull/(\d{1,9})$")
_HASH = re.compile(r"[0-9a-f]{40}")
_Key = tuple[str, tuple[tuple[str, str], ...]]


class PublishedBaselines:
    """Satisfies the Published port over a source."""

    def __init__(self, source: Source, metrics: Metrics, *, display: Mapping[str, str] = DISPLAY) -> None:
        self._source, self._metrics, self._display = source, metrics, display
        self._answers: dict[_Key, Any] = {}

    def offer(self, question: Question) -> Offer:
        """Every run's published points of the question's configurations with its image, evals and origin of the newest run
        with them. Raises Unreachable when the API does not answer."""
        notes: list[str] = []
        found = self._published(question, notes)
        ours: dict[tuple[object, ...], list[Point]] = {}
        for point in found:
            if same_image(point.image, question.image) and any(_fits(point, one) for one in question.configurations):
                key = (point.date, point.run or 0, point.attempt or 0, point.image, point.fingerprint or point.identity)
                ours.setdefault(key, []).append(point)
        mine = {id(point) for group in ours.values() for point in group}
        notes += [said for group in ours.values() for point in group for said in self._refused(point)]
        asides = dict.fromkeys(Aside(image=point.image, fingerprint=point.fingerprint, identity=point.identity, date=point.date,
                                     run=point.run, topology=topology(sized(point.row)) or "", concurrency=point.concurrency)
                               for point in found if id(point) not in mine)
        newest = max(ours, key=lambda key: key[:3], default=None)
        run = newest[:2] if newest else None
        made = tuple(self._set(question, group, tell=key[:2] == run) for key, group in ours.items())
        return Offer(sets=made, asides=tuple(asides), notes=tuple(dict.fromkeys(notes)))

    def _refused(self, point: Point) -> Iterator[str]:
        """`value-negative:1:ttft`, for each value of a point that cannot be a measurement of a metric that anybody reads."""
        for name, why in point.refused.items():
            if spelled := self._metrics.spelled(name):
                yield f"value-{why}:{point.concurrency}:{spelled[0].id}"

    def _set(self, question: Question, group: Sequence[Point], *, tell: bool) -> Baseline:
        """One run's points of one configuration. Only the newest run is asked whence it comes and what else it counted."""
        producer, first, notes = group[0].producer, group[0], list[str]()
        head, pull = self._origin(producer, notes) if tell else (None, None)
        evals = self._evals(question, group, producer, head, notes) if tell else ()
        accounting, samples = self._artifacts(producer, notes) if tell else ((), ())
        return Baseline(
            date=producer.date, image=first.image, run=producer.run, attempt=producer.attempt, head=head, pull=pull,
            fingerprint=first.fingerprint or None, identity=first.identity, accounting=accounting, samples=samples,
            rows=(*performance_rows(group, question.recipe, head, self._metrics), *evals),
            source=f"{self._source.name}/benchmarks", notes=tuple(dict.fromkeys(notes)))

    def _published(self, question: Question, notes: list[str]) -> list[Point]:
        """All that is published of the question's model on its hardware, by its engine: the latest, the history, and day by
        day what the history does not tell."""
        key = key_of(question.model)
        name = self._name(key, question.model)
        latest = self._rows("benchmarks", {"model": name}, notes)
        if latest is None:
            return []
        rows, whole = list(latest), True
        workloads = _workloads(question)
        for query in workloads:
            past = self._rows("benchmarks/history", {"model": name, **query}, None)
            rows += past or ()
            whole = whole and past is not None and (not past or any(text(row.get("image")) for row in dicts(past)))
        if not whole:
            for day in self._days(question, key)[:LIMIT - 3 - len(workloads)]:
                rows += self._rows("benchmarks", {"model": name, "date": day, "exact": "true"}, None) or ()
        rows = [row for row in rows if not isinstance(row, dict) or key_of(text(row.get("model"))) == key or "model" not in row]
        found, said = points(rows)
        notes += said
        return [point for point in found if _near(point, question)]

    def _name(self, key: str, model: str) -> str:
        """The name to ask for: as it is on record, else as the API describes itself, else as the recipe has it."""
        if key in self._display:
            return self._display[key]
        try:
            return shown(key, self._get("openapi", {})) or model
        except BumpbotError:
            return model

    def _rows(self, route: str, params: Mapping[str, str], notes: list[str] | None) -> Sequence[Any] | None:
        """A list of rows; None, with a note where there is somewhere to put it, when there is none to be had. Only the
        latest answer must come: whoever cannot be asked at all is unreachable."""
        try:
            told = self._get(route, params)
        except Unreachable:
            if notes is not None:
                raise
            return None
        except BumpbotError as error:
            word = {Missing: "model-unknown", Refusal: "source-refused"}.get(type(error), "answer-unreadable")
            told, said = None, f"{word}:{params['model']}" if word == "model-unknown" else word
        else:
            said = "answer-unreadable"
        if isinstance(told, list):
            return told
        if notes is not None:
            notes.append(said)
        return None

    def _get(self, route: str, params: Mapping[str, str]) -> Any:
        """An answer, asked for once: recipes of a family share a model."""
        key = (route, tuple(sorted(params.items())))
        if key not in self._answers:
            try:
                self._answers[key] = self._source.description() if route == "openapi" else self._source.get(route, params)
            except (BadInput, Missing, Refusal) as error:
                self._answers[key] = error
        told = self._answers[key]
        if isinstance(told, BumpbotError):
            raise told
        return told

    def _days(self, question: Question, key: str) -> list[str]:
        """The newest days on which the model was published on that hardware; none when /availability does not answer."""
        try:
            told = self._get("availability", {})
        except BumpbotError:
            return []
        days = {text(row.get("date"))[:10] for row in dicts(told) if key_of(text(row.get("model"))) == key
                and (not question.hardware or hardware(text(row.get("hardware"))) in ("", question.hardware))}
        return sorted(days - {""}, reverse=True)

    def _origin(self, producer: Producer, notes: list[str]) -> tuple[str | None, int | None]:
        """Head commit and pull request of the producing run: after a reuse the changelog belongs to the merge's run."""
        try:
            kind = {"benchmarkType": AGENTIC} if producer.agentic else {}
            told = self._get("workflow-info", {"date": producer.date} | kind)
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

    def _evals(self, question: Question, group: Sequence[Point], producer: Producer, head: str | None,
               notes: list[str]) -> tuple[Row, ...]:
        try:
            told = self._get("evaluations", {})
        except BumpbotError:
            notes.append("evals-unknown")
            return ()
        found = eval_rows(dicts(told), group, question.recipe, producer, head)
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


def _fits(point: Point, wanted: Configuration) -> bool:
    if point.fingerprint:
        told = topology(sized(point.row))
        return point.fingerprint == wanted.fingerprint and agrees(told, workload(point.row), wanted)
    return bool(wanted.identity) and point.identity == wanted.identity


def _near(point: Point, question: Question) -> bool:
    """Whether a point is of the question's machine, engine and weights: any other is another recipe's, and no reason."""
    told = [text(point.row.get(name)).lower() for name in ("hardware", "framework", "precision")]
    asked = (question.hardware, question.framework, question.precision)
    return any(_fits(point, one) for one in question.configurations) or all(
        not one or not other or one == other for one, other in zip(told, asked, strict=True))


def _workloads(question: Question) -> list[dict[str, str]]:
    """The queries of /benchmarks/history, which takes one workload at a time: `8k1k` is 8192 tokens in and 1024 out."""
    asked: list[dict[str, str]] = []
    for one in question.configurations:
        found = re.fullmatch(r"(\d+)(k?)_?(\d+)(k?)", one.workload)
        if found:
            sizes = [int(number) * (1024 if thousand else 1) for number, thousand in (found.group(1, 2), found.group(3, 4))]
            query = {"isl": str(sizes[0]), "osl": str(sizes[1])}
        else:
            query = {"benchmarkType": AGENTIC}
        if query not in asked:
            asked.append(query)
    return asked[:4]
