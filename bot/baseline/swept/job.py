"""One job's results: sealed by their sums, of exactly the point that was planned, whole, with every gate holding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bot.baseline.swept.archive import PACKED, Archive, Linked
from bot.baseline.swept.artifacts import Shelved, Upload
from bot.baseline.swept.image import proven
from bot.baseline.swept.rows import placed
from bot.diagnose.logs import Opened
from bot.errors import BadInput
from bot.images.tags import Scheme
from bot.model.bench import Report
from bot.model.swept import Fault, Gathered, Planned, Told
from bot.results import Collected, collect
from bot.results.metrics import Metrics
from bot.strict import load_json

REPORT, SUMS = "bench.json", "SHA256SUMS"
LARGEST = 8_000_000


class Known(Struct, frozen=True, kw_only=True):
    """What reading results takes: metrics, how tags are read, which engines' logs tell a version, whether the layout takes the
    harness's word for the image, and by recipe the image that the default branch has."""

    metrics: Metrics
    schemes: tuple[Scheme, ...]
    engines: Mapping[str, tuple[str, ...]]
    name: Callable[[str], str] = str
    trusted: bool = False
    before: Mapping[str, str] = {}


class _Unfit(Exception):
    """Nothing of this job can be used: the word and the line."""

    def __init__(self, why: str, said: str) -> None:
        self.why, self.said = why, said
        super().__init__(said)


def gather(job: Planned, found: Shelved, run: Told, known: Known) -> Gathered:
    """What the newest attempt of a job measured, and every reason why it does not count."""
    attempts = found.get(job.results, {})
    if not attempts:
        return Gathered(planned=job, faults=(Fault(job=job.name, why="no-results", said="no results were uploaded"),))
    attempt = max(attempts)
    try:
        report = _sealed(job, attempts[attempt], found.get(job.logs, {}).get(attempt))
        collected = _collected(job, attempts[attempt], run, attempt, known)
    except _Unfit as error:
        return Gathered(planned=job, attempt=attempt, faults=(Fault(job=job.name, why=error.why, said=error.said),))
    return _judged(job, report, collected, attempt, known)


def _judged(job: Planned, report: Report, collected: Collected, attempt: int, known: Known) -> Gathered:
    order = job.point
    faults = [Fault(job=job.name, why=why, said=said) for why, said in _faults(job, report)]
    rows, wrong = placed(collected.rows, order)
    whole = report.state == "complete"  # of any other nothing counts, and nothing more need be said
    faults += [Fault(job=job.name, why="rows", said=said) for said in wrong if whole]
    proof = proven(order, report, collected, known)
    if whole and not proof.holds:
        faults.append(Fault(job=job.name, why="image", said=f"the image is not proven to have run: {proof.why or proof.state}"))
    return Gathered(
        planned=job, attempt=attempt, digest=report.launched.digest if report.launched else None, rows=rows,
        accounting=tuple(replace(one, recipe=order.recipe) for one in collected.accounting),
        samples=tuple(replace(one, recipe=order.recipe) for one in collected.samples),
        proof=proof, faults=tuple(faults))


def _faults(job: Planned, report: Report) -> Iterator[tuple[str, str]]:
    """What the report itself says against its results."""
    if report.state != "complete":
        yield "state", f"the measurement is {report.state}: {report.reason or 'nobody says why'}"
    for gate in report.gates:
        if gate.passed is False:
            yield "gate", f"the gate {gate.name} does not hold: {gate.said or 'nobody says why'}"
    if (other := _other(msgspec.to_builtins(report.order), msgspec.to_builtins(job.point))) is not None:
        yield "other-point", f"these are results of another point: {other} is not as planned"


def _other(told: Mapping[str, Any], wanted: Mapping[str, Any]) -> str | None:
    """The first field of the order that is not the plan's, the telling ones first."""
    fields = dict.fromkeys(("id", "fingerprint", "image", *wanted, *told))
    return next((field for field in fields if told.get(field) != wanted.get(field)), None)


def _sealed(job: Planned, results: Upload, logs: Upload | None) -> Report:
    """The report, when every file of both artifacts has the sum that stands in SHA256SUMS and none is missing or more."""
    sums, report = {}, None
    listed: dict[str, str] = {}
    for folder, upload in (("results", results), ("logs", logs)):
        if upload is None:
            continue
        if upload.size > PACKED:
            raise _Unfit("archive", f"{upload.name} is larger than {PACKED} bytes")
        with upload.open() as stream:
            try:
                archive = Archive(upload.name, stream)
                sums |= {f"{folder}/{path}": value for path, value in archive.sums().items()}
                if folder == "results":
                    listed, report = _listed(archive.read(SUMS, LARGEST), upload), archive.read(REPORT, LARGEST)
            except BadInput as error:
                raise _Unfit("link" if isinstance(error, Linked) else "archive", str(error)) from None
    sums.pop(f"results/{SUMS}", None)
    for path in sorted({*listed, *sums}):
        if listed.get(path) != sums.get(path):
            why = "is not in SHA256SUMS" if path not in listed else "is missing" if path not in sums else "has another SHA-256"
            raise _Unfit("sums", f"{path} {why}")
    if report is None:
        raise _Unfit("report", f"{REPORT} is missing")
    try:
        return load_json(Report, report, file=f"{results.name}/{REPORT}")
    except BadInput as error:
        raise _Unfit("report", str(error)) from None


def _listed(data: bytes | None, upload: Upload) -> dict[str, str]:
    """Path -> SHA-256, as sha256sum writes it."""
    if data is None:
        raise _Unfit("sums", f"{SUMS} is missing")
    found: dict[str, str] = {}
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        value, _, path = line.partition(" ")
        path = path[1:] if path[:1] in (" ", "*") else ""
        if len(value) != 64 or set(value) - set("0123456789abcdef") or not path or path in found:
            raise _Unfit("sums", f"{SUMS}:{number}: not a sum and a name, each name once")
        found[path] = value
    return found


def _collected(job: Planned, upload: Upload, run: Told, attempt: int, known: Known) -> Collected:
    """The rows of the artifact by the parsers of every result: limits, finite numbers, no contradiction."""
    archive = f"{upload.name}.zip"
    with upload.open() as stream:
        opened = Opened([(archive, stream)], everything=True)
        try:
            made = collect(_files(opened, upload.name, archive), recipe=job.point.recipe, run=run.run, attempt=attempt,
                           head=run.head, metrics=known.metrics)
            msgspec.json.encode(made)
        except (BadInput, UnicodeError, OverflowError, ValueError) as error:
            raise _Unfit("rows", str(error)) from None
    if opened.notes:
        raise _Unfit("link", opened.notes[0])
    return made


def _files(opened: Iterable[tuple[str, BinaryIO]], name: str, archive: str) -> Iterator[tuple[str, BinaryIO]]:
    for path, stream in opened:
        yield f"{name}/{path.removeprefix(archive).lstrip('/')}", stream
