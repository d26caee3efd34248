"""Tables as Markdown. In a folded half they are not drawn twice: one pointer to the table above stands in."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from jinja2.runtime import Markup

from bot.model.checklines import CheckLine, TouchLine
from bot.model.lines import AttemptLine, Cell, Regression, RunLine, Table
from bot.model.result import Score
from bot.model.sweptlines import Curve, GateLine, PointLine
from bot.render.columns import ARROWS, STATS, Column
from bot.render.filters import change, fixed, moment, percent, rate, sha, share, signed, threshold, value
from bot.render.safe import cell as safe_cell
from bot.render.safe import code, link, plain
from bot.render.words import Words

_LEFT, _RIGHT = "---", "---:"
_SEAM = re.compile(r"(?<=[A-Za-z0-9])(?=[\u4e00-\u9fff])")


class Tables:
    """Draws the tables of one language; `shown` False puts a pointer in place of each; `sighted` makes code of words
    of others."""

    def __init__(self, words: Words, metrics: Mapping[str, Column], *, shown: bool,
                 sighted: Callable[[object], Markup]) -> None:
        self._words, self._metrics, self._shown, self._seen = words, metrics, shown, sighted

    def baseline(self, table: Table) -> Markup:
        """One line a concurrency, the baseline's values alone."""
        return self._points(table, self._old)

    def smoke(self, table: Table) -> Markup:
        """One block a concurrency: a line a metric, baseline, smoke and delta side by side."""
        if not self._shown:
            return self._words.word("table-above")
        blocks = []
        for line in table.lines:
            conc = Markup(f"{self._words.word('conc')} {line.concurrency}")
            heads = [Markup(f"{code(line.recipe)} · {conc}") if line.recipe else conc,
                     *(self._words.word(term) for term in ("baseline", "smoke", "delta"))]
            rows = [[self._head(cell.metric), *self._three(cell)] for cell in line.cells]
            blocks.append(self._draw(heads, rows, left=1))
        return Markup("\n\n".join(blocks))

    def interim(self, table: Table) -> Markup:
        """One line a concurrency, each cell `old → new (delta)` in the metric's brief precision."""
        return self._points(table, self._arrow)

    def _points(self, table: Table, told: Callable[[Cell], Markup]) -> Markup:
        """One line a point; its recipe stands first where a family has several."""
        several = any(line.recipe for line in table.lines)
        heads = [self._words.word("conc"), *(self._head(metric) for metric in table.metrics)]
        rows = [[str(line.concurrency), *(told(cell) for cell in line.cells)] for line in table.lines]
        if several:
            heads = [self._words.word("recipe"), *heads]
            rows = [[code(line.recipe), *row] for line, row in zip(table.lines, rows, strict=True)]
        return self._draw(heads, rows, left=int(several))

    def regressions(self, lines: Sequence[Regression]) -> Markup:
        """What is worse, one line a metric and point; a whole curve has a delta and no values."""
        several = any(line.recipe for line in lines)
        terms = [*(["recipe"] if several else []), "conc", "metric", "baseline", "new", "delta", "interval"]
        rows = []
        for line in lines:
            column = self._metrics[line.metric.partition(":")[0]]
            place = self._words.word("curve") if line.concurrency is None else str(line.concurrency)
            none = self._na(None, "whole-curve")
            what = f"{self._head(line.metric)}{self._words.aside(code(line.task)) if line.task else ''}"
            rows.append([
                *([code(line.recipe)] if several else []), place, Markup(what),
                none if line.old is None else value(column, line.old), none if line.new is None else value(column, line.new),
                signed(line.delta, column.decimals) if column.delta == "difference"
                else share(line.delta, points=column.delta == "points"),
                Markup(" … ".join(share(end, points=column.delta == "points") for end in line.interval))
                if line.interval else self._na(None, "no-interval"),
            ])
        return self._draw([self._words.word(term) for term in terms], rows, left=int(several) + 2)

    def scores(self, scores: Sequence[Score]) -> Markup:
        """Evals against their gate, and how many answers never came to an end."""
        terms = ("eval", "conc", "score", "threshold", "gate", "baseline", "n", "cut-answers")
        rows = [
            [code(f"{score.task} {score.metric}"), str(score.concurrency), fixed(score.value, 4),
             self._na(None, "no-threshold") if score.threshold is None else threshold(score.threshold), self._gate(score),
             self._na(score.missing, "no-baseline") if score.baseline is None else fixed(score.baseline, 4),
             str(score.n) if score.n else self._na(None, "no-count"),
             rate(score.samples.cut, score.samples.n) if score.samples else self._na(None, "no-samples")]
            for score in scores
        ]
        heads = [self._words.word(term) for term in terms]
        if any(score.recipe for score in scores):
            heads = [self._words.word("recipe"), *heads]
            rows = [[code(score.recipe), *row] for score, row in zip(scores, rows, strict=True)]
        return self._draw(heads, rows, left=len(heads) - len(terms) + 1)

    def attempts(self, lines: Sequence[AttemptLine]) -> Markup:
        terms = ("attempt", "head", "run", "result", "gpu-hours")
        rows = [
            [self._attempt(line.number), sha(line.head), f"{line.run}/{line.attempt}"
             if line.run else self._na(None, "not-started"),
             self._words.told(line.result, "result"), fixed(line.gpu_hours, 1)]
            for line in lines
        ]
        return self._draw([self._words.word(term) for term in terms], rows, left=4)

    def runs(self, runs: Sequence[RunLine]) -> Markup:
        """Every run with its reason."""
        terms = ("run", "workflow", "reason", "began", "conclusion", "gpu-hours")
        rows = [
            [link(f"{run.id}/{run.attempt}", run.url), code(run.workflow), self._words.told(run.reason, "reason"),
             moment(run.created),
             self._words.told(run.conclusion or "running", "conclusion"), fixed(run.gpu_hours, 1)]
            for run in runs
        ]
        return self._draw([self._words.word(term) for term in terms], rows, left=5)

    def touching(self, lines: Sequence[TouchLine]) -> Markup:
        """Commits of an upstream that touch what the recipe uses. A pull request's number is no link: a link would leave a note
        there for each of our bumps."""
        rows = [
            [link(line.sha[:9], line.url) if line.url else sha(line.sha), line.date or self._na(None, "not-told"),
             code(f"#{line.pull}") if line.pull else self._na(None, "no-pull"),
             Markup(self._words.comma.join(self._seen(word) for word in line.words)) or self._na(None, "not-told")]
            for line in lines
        ]
        return self._draw([self._words.word(term) for term in ("commit", "date", "pull", "touches")], rows, left=4)

    def checks(self, lines: Sequence[CheckLine]) -> Markup:
        """Each check's result, one line a finding; what a check that holds looked at, and why one that could not look did not."""
        rows = []
        for line in lines:
            told = [self._seen(text) for text in (line.evidence, line.where) if text]
            if not told and line.what:
                told = [Markup(plain(self._words.own(line.what)))]
            class_ = self._words.aside(code(line.class_)) if line.class_ else ""
            rows.append([self._words.told(line.check, "check"), Markup(f"{self._words.word(f'state-{line.state}')}{class_}"),
                         Markup(" · ".join(told)) or self._na(None, "not-told")])
        return self._draw([self._words.word(term) for term in ("check", "result", "evidence")], rows, left=3)

    def swept(self, lines: Sequence[PointLine], metrics: Sequence[str]) -> Markup:
        """One line a point that was measured, with its failed requests and whether its image was proven."""
        heads = [*self._terms("recipe", "conc"), *map(self._head, metrics), *self._terms("failed-requests", "image-ran")]
        rows = [[code(line.recipe), str(line.concurrency), *(self._new(cell) for cell in line.cells),
                 self._lost(line.failed, line.of), self._proof(line.proof)] for line in lines]
        return self._draw(heads, rows, left=1)

    def gates(self, lines: Sequence[GateLine]) -> Markup:
        """One line an eval that was asked, against its threshold."""
        heads = self._terms("recipe", "eval", "conc", "score", "threshold", "gate", "n", "image-ran")
        rows = [[code(one.score.recipe), code(f"{one.score.task} {one.score.metric}"), str(one.score.concurrency),
                 fixed(one.score.value, 4),
                 self._na(None, "no-threshold") if one.score.threshold is None else threshold(one.score.threshold),
                 self._gate(one.score), str(one.score.n) if one.score.n else self._na(None, "no-count"), self._proof(one.proof)]
                for one in lines]
        return self._draw(heads, rows, left=2)

    def curve(self, curve: Curve) -> Markup:
        """One metric over concurrency, as a chart that the forge draws (Mermaid) and a reader of plain text can read: both axes
        stand in it as numbers."""
        if not self._shown:
            return self._words.word("chart-above")
        column = self._metrics[curve.metric]
        axis = ", ".join(f'"{conc}"' for conc, _ in curve.points)
        values = ", ".join(str(value(column, number)) for _, number in curve.points)
        return Markup("\n".join((
            "```mermaid", "xychart-beta", f'title "{_bare(curve.recipe)}"',
            f'x-axis "{self._words.word("concurrency")}" [{axis}]',
            f'y-axis "{_bare(column.unit)}"', f"line [{values}]", "```")))

    def _terms(self, *terms: str) -> list[Markup]:
        return [self._words.word(term) for term in terms]

    def _new(self, cell: Cell) -> Markup:
        return self._na(cell.missing, "not-measured") if cell.new is None else value(self._column(cell), cell.new)

    def _lost(self, failed: int | None, of: int | None) -> Markup:
        if failed is None or not of:
            return self._na(None, "no-count")
        return Markup(f"{rate(failed, of)}{self._words.aside(percent(failed, of))}")

    def _proof(self, state: str | None) -> Markup:
        return self._na(None, "not-told") if state is None else self._words.told(state, "proof")

    def _draw(self, heads: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 0) -> Markup:
        """The first `left` columns hold words and stand on the left; the others hold numbers."""
        if not self._shown:
            return self._words.word("table-above")
        rule = [_LEFT if index < left else _RIGHT for index in range(len(heads))]
        lines = [[safe_cell(text) for text in heads], rule, *([safe_cell(text) for text in row] for row in rows)]
        return Markup("\n".join("| " + " | ".join(line) + " |" for line in lines))

    def _head(self, metric: str) -> Markup:
        """`median TTFT (s) ↓`; a metric may name another statistic than its own, as in `ttft:mean`."""
        name, _, stat = metric.partition(":")
        column = self._metrics[name]
        said = self._words.own(column.name)
        term = STATS.get(stat or column.stat or "")
        titled = _SEAM.sub(" ", str(self._words.word(f"stat-{term}")).replace("{0}", said)) if term else said
        unit = self._words.aside(column.unit) if column.unit not in ("", "requests", "share") else ""
        arrow = ARROWS[column.direction] if unit.endswith(")") or not unit else ARROWS[column.direction].strip()
        return Markup(f"{titled}{unit}{arrow}")

    def _column(self, cell: Cell) -> Column:
        return self._metrics[cell.metric.partition(":")[0]]

    def _old(self, cell: Cell) -> Markup:
        return self._na(cell.missing, "no-baseline") if cell.old is None else value(self._column(cell), cell.old)

    def _new_missing(self, cell: Cell) -> Markup:
        """Why there is no new value. `missing` speaks of the old one where both are absent."""
        return self._na(None if cell.old is None else cell.missing, "not-measured")

    def _three(self, cell: Cell) -> tuple[Markup, Markup, Markup]:
        new = self._new_missing(cell) if cell.new is None else value(self._column(cell), cell.new)
        return self._old(cell), new, self._delta(cell)

    def _delta(self, cell: Cell) -> Markup:
        if cell.old is None:
            return self._old(cell)
        if cell.new is None:
            return self._new_missing(cell)
        return change(self._column(cell), cell.old, cell.new) or self._na(None, "zero-baseline")

    def _arrow(self, cell: Cell) -> Markup:
        if cell.new is None:
            return self._new_missing(cell)
        column, new = self._column(cell), value(self._column(cell), cell.new, brief=True)
        if cell.old is None:
            return Markup(f"{self._old(cell)} → {new}")
        delta = change(column, cell.old, cell.new)
        told = self._words.aside(delta) if delta else f"{self._words.comma}{self._delta(cell)}"
        return Markup(f"{value(column, cell.old, brief=True)} → {new}{told}")

    def _gate(self, score: Score) -> Markup:
        """Whether the gate held, in the words of an attempt's result."""
        return self._na(None, "no-threshold") if score.passed is None else self._words.word("passed" if score.passed else "failed")

    def _attempt(self, number: int | None) -> Markup:
        if number is None:
            return self._words.word("final-sweep")
        return self._words.word("initial-attempt") if number == 0 else Markup(f"{self._words.word('repair')} {number}")

    def _na(self, reason: str | None, otherwise: str) -> Markup:
        return self._words.missing(reason, otherwise)


def _bare(text: str) -> str:
    """Words of a chart: what would end its quotes, or begin anything of Mermaid's own, is left out."""
    return re.sub(r"[^A-Za-z0-9 _.:/+-]", "", text)
