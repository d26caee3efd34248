"""Why an eval is under its threshold, when the servers were healthy: a cause in the serving path wins over the gate.

A model that got worse gives wrong answers; a serving path that drops text gives answers that end before their last line.
The seed's sweep had 219 of 1319 answers cut where the baseline had none, and no more wrong ones than before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from bot.diagnose.signatures import Signature
from bot.diagnose.triage import explains
from bot.model.result import Samples, Score
from bot.model.run import Triage
from bot.model.text import Text

GATE = "eval-below-threshold"
# Cut answers must be at least this share of all answers, so that a few that ran into the token limit explain nothing.
CUT_SHARE = 0.02
_CUT = Text(
    en="answers end before their answer line: the serving path drops text, and the whole ones would pass the gate",
    zh="回答在答案行之前中断：服务路径丢失了文本，而完整到达的回答本可通过门槛",
)


def gate_cause(scores: Sequence[Score], warnings: Mapping[str, int], signatures: Sequence[Signature]) -> Triage:
    """The cause of the failed ones among `scores`, from their answers and from the warnings counted in the logs.

    Nothing failed: an empty Triage. Cut answers together with a serving-path warning name that warning's signature with
    confidence "sure" (its repair with it); one of the two alone is "likely"; neither leaves the gate itself.
    """
    failed = [score for score in scores if score.passed is False]
    if not failed:
        return Triage(warnings=dict(warnings))
    seen = Triage(first_error="; ".join(_words(score) for score in failed), warnings=dict(warnings))
    cut = any(score.samples and explained_by_cut(score, score.samples) for score in failed)
    inspected = any(score.samples for score in failed)
    warned = next((item for item in signatures if warnings.get(item.id) and explains(item, evals=True)), None)
    if warned and (cut or not inspected):
        return replace(_named(seen, warned), confidence="sure" if cut else "likely", others=(GATE,))
    if cut:
        return replace(seen, class_="tool-parser", cause=_CUT, confidence="likely", others=(GATE,))
    gate = next((item for item in signatures if item.id == GATE), None)
    return replace(_named(seen, gate) if gate else replace(seen, class_="eval-gate"), confidence="sure")


def _named(seen: Triage, signature: Signature) -> Triage:
    # No line was matched here, so the excerpt has no captures to fill.
    excerpt = None if "{" in signature.excerpt else signature.excerpt
    return replace(
        seen,
        signature=signature.id,
        class_=signature.class_,
        excerpt=excerpt,
        cause=signature.cause,
        repair=signature.repair,
    )


def explained_by_cut(score: Score, samples: Samples) -> bool:
    """Whether the score would pass its threshold had the cut answers been as right as the whole ones."""
    whole = samples.n - samples.cut
    if samples.n == 0 or samples.cut < CUT_SHARE * samples.n:
        return False
    return score.threshold is None or whole == 0 or samples.correct / whole >= score.threshold


def _words(score: Score) -> str:
    threshold = f" (< {score.threshold:g})" if score.threshold is not None else ""
    cut = f", {score.samples.cut} of {score.samples.n} answers cut" if score.samples else ""
    return f"{score.task} {score.metric} = {score.value:.4f}{threshold} at concurrency {score.concurrency}{cut}"
