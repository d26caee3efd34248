"""Makes the shipped scenarios kimi-k3-gb200 and kimi-k3-gb200-uncapped again; the same bytes each time.

    python -m tests.rehearse.make_kimi_k3_gb200 --snapshot DIR --licence FILE [--into DIR]

`--into` is the folder of scenarios. `--snapshot` is a checkout of SemiAnalysisAI/InferenceX of 2026-08-22, from which the
guest repository's files are cut; without it repo/ is kept as it is and everything else is made. Which numbers are the
record's and which are invented is said in kimi_k3_gb200/numbers.py and beside each maker.
"""

from __future__ import annotations

import argparse
import shutil
from datetime import timedelta
from pathlib import Path

from tests.rehearse.kimi_k3_gb200 import evals, history, logs, numbers, own, published, repo, requests, story, uncapped
from tests.rehearse.kimi_k3_gb200.numbers import EVALS, FULL, INITIAL, REPAIRED, SMOKE, SWEEP, at

# Dropped calls that the frontends of the evals logged; of c16 as many as answers were cut, of the others INVENTED.
DROPPED = {2: 214, 4: 238, 16: numbers.CUT}
SCENARIOS = Path(__file__).parents[2] / "bot/rehearse/scenarios"
NAME, UNCAPPED = "kimi-k3-gb200", "kimi-k3-gb200-uncapped"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--snapshot", type=Path)
    parser.add_argument("--licence", type=Path)
    parser.add_argument("--into", type=Path, default=SCENARIOS)
    chosen = parser.parse_args()
    make(chosen.into / NAME)
    make_uncapped(chosen.into / UNCAPPED)
    if chosen.snapshot:
        target = chosen.into / NAME / "repo"
        shutil.rmtree(target, ignore_errors=True)
        repo.write(chosen.snapshot, chosen.licence or chosen.snapshot / "LICENSE", target)


def make(folder: Path) -> None:
    """Everything of kimi-k3-gb200 but repo/."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("artifacts", "upstream"):
        shutil.rmtree(folder / name, ignore_errors=True)
    (folder / "scenario.yaml").write_text(story.write())
    published.write(folder)
    history.write(folder)
    initial(folder / f"artifacts/{INITIAL}/1")
    smoke(folder / f"artifacts/{REPAIRED}")
    sweep(folder / f"artifacts/{SWEEP}/1")
    own.artifacts(folder)


def make_uncapped(folder: Path) -> None:
    """Everything of kimi-k3-gb200-uncapped; what it shares with the other is not written twice."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / "artifacts", ignore_errors=True)
    (folder / "scenario.yaml").write_text(uncapped.write())
    uncapped.artifacts(folder)


def initial(folder: Path) -> None:
    """Both jobs start at 06:42 and lose their frontend at 07:05."""
    name, second = (story.result(1, slot, published=False) for slot in (0, 1))
    logs.failed_start(folder, f"multinode_server_logs_{name}", 1, at(6, 43, 10), at(7, 5, 37.218))
    logs.failed_start(folder, f"eval_multinode_server_logs_{second}", 5, at(6, 43, 12), at(7, 5, 52.904))


def smoke(folder: Path) -> None:
    name = story.result(1, 2, published=False)
    requests.write(folder / "1", name, SMOKE, at(7, 54, 30), published=False, odd_conversation=True)
    logs.served(
        folder / "1",
        f"multinode_server_logs_{name}",
        9,
        at(7, 25, 40),
        at(9, 1, 12.5),
        warnings=74,
        requests=11,
        title="profiling finished: 234 requests in 3594 s",
    )
    again = story.result(1, 3, published=False)
    logs.failed_install(folder / "1", f"eval_multinode_server_logs_{again}", 1, at(7, 25, 44), at(7, 35, 51))
    last = story.result(1, 0, published=False)
    evals.write_tool_calls(folder / "2", last)
    logs.served(
        folder / "2",
        f"eval_multinode_server_logs_{last}",
        1,
        at(9, 4, 2),
        at(9, 25, 18),
        warnings=0,
        requests=1,
        title="eval finished: 2 cases",
    )


def sweep(folder: Path) -> None:
    """Warnings in the frontend's log grow with the requests served; their numbers are invented."""
    for point, slot in zip(FULL, range(4), strict=True):
        name = story.result(point.conc, slot, published=True)
        requests.write(folder, name, point, at(10, 9, 12 + slot), published=True)
        logs.served(
            folder,
            f"multinode_server_logs_{name}",
            1 + 4 * slot,
            at(9, 40, 2 + slot),
            at(9, 40) + timedelta(minutes=108 + slot),
            warnings=12 * (slot + 1),
            requests=4 + slot,
            title=f"profiling finished: {point.profiled} requests",
        )
    for score, slot in zip(EVALS, (1, 2, 3), strict=True):
        name = story.result(score.conc, slot, published=True)
        evals.write(folder, name, score, at(11, 40 + score.conc % 10, 3.118204), samples=score.conc == 16)
        logs.served(
            folder,
            f"eval_multinode_server_logs_{name}",
            1 + 4 * slot,
            at(11, 32, 30 + slot),
            at(11, 47, 20 + slot),
            warnings=DROPPED[score.conc],
            requests=DROPPED[score.conc],
            title=f"eval finished: {numbers.ANSWERS} requests",
        )


if __name__ == "__main__":
    main()
