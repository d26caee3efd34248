"""Whether a layout can measure the old image beside a sweep: a policy that asks for it must not be a key that does nothing."""

from __future__ import annotations

from bot.layout.records import Layout
from bot.model.policy import Wanted


def lacking(layout: Layout, wanted: Wanted) -> tuple[str, str] | None:
    """What keeps the control arm that a policy asks for from being dispatched, and what to do; None where nothing does, or no
    policy asks. It is started as a repeat is: by the smoke's workflow, for one commit, at named points, found by its nonce."""
    if wanted.control_arm != "same-day":
        return None
    smoke = layout.smoke
    if smoke is None or not smoke.workflow:
        return "asks for a control arm, and no workflow can be dispatched for it", "name one under `smoke`, or write `never`"
    told = " ".join(smoke.inputs.values())
    for hole in ("{head}", "{nonce}"):
        if hole not in told:
            return f"asks for a control arm, and no input of the smoke holds {hole}", f"add it to `smoke.inputs`, as {hole}"
    if "{points}" not in told and not ("{arguments}" in told and smoke.arguments.get("repeat")):
        return ("asks for a control arm, and nothing tells the smoke's workflow which points to run",
                "name {points} in `smoke.inputs`, or {arguments} there and `smoke.arguments.repeat`")
    return None
