"""`bumpbot plan` with a clock in it: what the checks took of a command (all that is gathered for them, and what they say of it).

    python -m benchmarks.timed_plan TIMES plan ...

TIMES is a file for three numbers: seconds on the clock, of this process's processor, and of its children's.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

from bot.cli import main
from bot.cli import plan as command


def spent() -> tuple[float, float, float]:
    """The clock, and the processors as the system counts them: a child counts once it was waited for."""
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return perf_counter(), own.ru_utime + own.ru_stime, others.ru_utime + others.ru_stime


def timed(file: Path, sources: Any, *given: Any) -> Any:
    """A plan, and in the file what it took."""
    began = spent()
    try:
        return gather(sources, *given)
    finally:
        sources.surveyor.close()  # its children are counted when they end
        file.write_text(json.dumps([end - start for start, end in zip(began, spent(), strict=True)]))


gather = command.gather
if __name__ == "__main__":
    command.gather = lambda sources, *given: timed(Path(sys.argv[1]), sources, *given)  # type: ignore[assignment]
    main(sys.argv[2:])
