"""The checks made from files alone, before a GPU is asked for: one file a check, all of one shape, facts in and findings out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot.model.finding import Check, Checked, PlanFinding
from bot.model.preflight import Facts
from bot.model.text import Text
from bot.preflight import (
    arch,
    capacity,
    certify,
    contains,
    identity,
    mergeable,
    names,
    options,
    overlap,
    parity,
    roster,
    runners,
    staging,
)
from bot.preflight import imports as imported
from bot.preflight.history import history


def _history(facts: Facts) -> Checked:
    """Own history, with the checks that tell whether what stopped an earlier bump is still there."""
    asked = {one.release.of for one in facts.lessons if one.release is not None} - {"history"}
    return history(facts, {name: CHECKS[name](facts) for name in asked if name in CHECKS})


# In the order of CONTRACTS section 2.
CHECKS: dict[Check, Callable[[Facts], Checked]] = {
    "identity": identity.check,
    "roster": roster.check,
    "runners": runners.check,
    "staging": staging.check,
    "mergeable": mergeable.check,
    "history": _history,
    "imports": imported.check,
    "options": options.check,
    "arch": arch.check,
    "contains": contains.check,
    "certify": certify.check,
    "names": names.check,
    "parity": parity.check,
    "capacity": capacity.check,
    "overlap": overlap.check,
}
_WEIGHT = {"stop": 0, "ask": 1, "repair-first": 2, "note": 3}


def preflight(facts: Facts, off: Sequence[str] = ()) -> tuple[Checked, ...]:
    """Every check that is not switched off, in the order of the table."""
    return tuple(check(facts) for name, check in CHECKS.items() if name not in off)


def said(finding: PlanFinding) -> Text:
    """A finding in words that may be published: its own, else its check and class."""
    word = finding.class_ or finding.action
    return finding.what or Text(en=f"the check {finding.check} found: {word}", zh=f"检查 {finding.check} 发现：{word}")


def findings(checks: Sequence[Checked]) -> tuple[PlanFinding, ...]:
    """All findings, what stops first."""
    return tuple(sorted((one for check in checks for one in check.findings), key=lambda one: _WEIGHT[one.action]))
