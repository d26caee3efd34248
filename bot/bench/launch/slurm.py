"""Starting something as a step or job of Slurm, on this very node: clients reach a server on the loopback only."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from bot.bench.launch.start import Start

_GPUS = ("--gres", "--gpus", "-G", "--gpus-per-node", "--gpus-per-task", "--tres-per")
CANCEL_S = 5.0


def used(start: Start) -> bool:
    """Whether Slurm hands out this machine: srun is there, and this is an allocation or the machine file has options for one."""
    return start.host.programs.found("srun") and bool(start.machine.slurm or start.host.env.get("SLURM_JOB_ID"))


def words(start: Start) -> list[str]:
    """`srun` with the machine's options, one task on this node, and the GPUs where the options do not name them. A step
    inside an allocation may share it with the one that this bench is."""
    order, inside = start.order, bool(start.host.env.get("SLURM_JOB_ID"))
    asked = any(option.startswith(_GPUS) for option in start.machine.slurm)
    some = [] if asked or order.hardware.lower() in ("cpu", "none") else [f"--gres=gpu:{order.gpus}"]
    return ["srun", *start.machine.slurm, "--nodes=1", "--ntasks=1", f"--nodelist={os.uname().nodename.partition('.')[0]}",
            f"--job-name={start.name}", "--kill-on-bad-exit=1", *(["--overlap"] if inside else []), *some]


def cancelled(start: Start, env: Mapping[str, str]) -> None:
    """Cancels what `words` started, if Slurm still has it: srun may have been killed before it could."""
    if not start.host.programs.found("scancel"):
        return
    job = start.host.env.get("SLURM_JOB_ID")
    for target in _steps(start, env, job) if job else [f"--name={start.name}"]:
        start.asked(["scancel", target], env, CANCEL_S)


def _steps(start: Start, env: Mapping[str, str], job: str) -> Sequence[str]:
    """Steps of our allocation that bear our name; never the allocation itself."""
    if not start.host.programs.found("squeue"):
        return []
    code, out, _ = start.asked(["squeue", "--steps", "--noheader", f"--jobs={job}", "--format=%i %j"], env, CANCEL_S)
    rows = [line.split() for line in out.splitlines()] if not code else []
    return [row[0] for row in rows if len(row) == 2 and row[1] == start.name and "." in row[0]]
