"""Tables as Markdown. In a folded half they are not drawn twice: one pointer to the table above stands in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.model.record import AttemptLine, Cell, RunLine, Table
from bot.model.result import Score
from bot.model.text import Text
from bot.render.columns import ARROWS, Column
from bot.render.filters import change, code, fixed, moment, sha, value


class Tables:
    """Draws the tables of one language; `shown` False puts a pointer in place of each."""

    def __init__(self, language: str, glossary: Mapping[str, Text], metrics: Mapping[str, Column], *, shown: bool) -> None:
        self._language, self._glossary, self._metrics, self._shown = language, glossary, metrics, shown

    def baseline(self, table: Table) -> str:
        """One line a concurrency, the baseline's values alone."""
        heads = [self._word("conc"), *(self._head(metric) for metric in table.metrics)]
        rows = [[str(line.concurrency), *(self._old(cell) for cell in line.cells)] for line in table.lines]
        return self._draw(heads, rows)

    def smoke(self, table: Table) -> str:
        """One block a concurrency: a line a metric, baseline, smoke and delta side by side."""
        blocks = []
        for line in table.lines:
            heads = [f"{self._word('conc')} {line.concurrency}", self._word("baseline"), self._word("smoke"), self._word("delta")]
            rows = [[self._head(cell.metric), *self._three(cell)] for cell in line.cells]
            blocks.append(self._draw(heads, rows))
        return "\n\n".join(blocks)

    def interim(self, table: Table) -> str:
        """One line a concurrency, each cell `old → new (delta)` in the metric's brief precision."""
        heads = [self._word("conc"), *(self._head(metric) for metric in table.metrics)]
        rows = [[str(line.concurrency), *(self._arrow(cell) for cell in line.cells)] for line in table.lines]
        return self._draw(heads, rows)

    def scores(self, scores: Sequence[Score]) -> str:
        """Evals against their gate, and how many answers never came to an end."""
        heads = [self._word(term) for term in ("conc", "eval", "score", "threshold", "baseline", "n", "cut-answers")]
        rows = [
            [str(score.concurrency), code(f"{score.task} {score.metric}".strip()), fixed(score.value, 4),
             "N/A" if score.threshold is None else fixed(score.threshold, 2), self._score_baseline(score), str(score.n),
             f"{score.samples.cut} / {score.samples.n}" if score.samples else self._na("no-samples")]
            for score in scores
        ]
        return self._draw(heads, rows)

    def attempts(self, lines: Sequence[AttemptLine]) -> str:
        heads = [self._word(term) for term in ("attempt", "head", "run", "result", "gpu-hours")]
        rows = [
            [self._attempt(line.number), sha(line.head), f"{line.run}/{line.attempt}" if line.run else "N/A",
             self._word(line.result), fixed(line.gpu_hours, 1)]
            for line in lines
        ]
        return self._draw(heads, rows)

    def runs(self, runs: Sequence[RunLine]) -> str:
        """Every run with its reason."""
        heads = [self._word(term) for term in ("run", "workflow", "reason", "began", "conclusion", "gpu-hours")]
        rows = [
            [f"[{run.id}/{run.attempt}]({run.url})", code(run.workflow), self._word(f"reason-{run.reason}"), moment(run.created),
             self._word(f"conclusion-{run.conclusion or 'running'}"), fixed(run.gpu_hours, 1)]
            for run in runs
        ]
        return self._draw(heads, rows)

    def _draw(self, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        if not self._shown:
            return self._word("table-above")
        lines = [heads, ["---:" for _ in heads], *rows]
        return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)

    def _head(self, metric: str) -> str:
        column = self._metrics[metric]
        unit = f" ({column.unit})" if column.unit and column.unit != "requests" else ""
        return f"{getattr(column.name, self._language)}{unit}{ARROWS[column.direction]}"

    def _old(self, cell: Cell) -> str:
        return self._na(cell.missing) if cell.old is None else value(self._metrics[cell.metric], cell.old)

    def _three(self, cell: Cell) -> tuple[str, str, str]:
        column = self._metrics[cell.metric]
        old = self._na(cell.missing) if cell.old is None else value(column, cell.old)
        new = self._na(cell.missing) if cell.new is None else value(column, cell.new)
        delta = "N/A" if cell.old is None or cell.new is None else change(column, cell.old, cell.new)
        return old, new, delta

    def _arrow(self, cell: Cell) -> str:
        column = self._metrics[cell.metric]
        if cell.new is None:
            return self._na(cell.missing)
        new = value(column, cell.new, brief=True)
        if cell.old is None:
            return f"{new} ({self._na(cell.missing)})"
        return f"{value(column, cell.old, brief=True)} → {new} ({change(column, cell.old, cell.new)})"

    def _score_baseline(self, score: Score) -> str:
        return self._na(score.missing) if score.baseline is None else fixed(score.baseline, 4)

    def _attempt(self, number: int | None) -> str:
        if number is None:
            return self._word("final-sweep")
        return self._word("initial-attempt") if number == 0 else f"{self._word('repair')} {number}"

    def _na(self, reason: str | None) -> str:
        """N/A never stands alone: it has its reason beside it."""
        known = reason is not None and f"missing-{reason}" in self._glossary
        return f"N/A ({self._word(f'missing-{reason}')})" if known else "N/A"

    def _word(self, term: str) -> str:
        return str(getattr(self._glossary[term], self._language))
