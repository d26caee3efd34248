"""Makes the shipped scenarios on bumpbot's own layout again (green, moved-tag, takeover, stale-cache, control-arm, family,
staged-later, deferred).

The same bytes each time:

    python -m tests.rehearse.make_own_scenarios [--into DIR]

Everything in them is invented; own_scenarios/numbers.py and own_scenarios/stories.py say what is meant to be seen.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from tests.rehearse.own_scenarios import stories, world
from tests.rehearse.own_scenarios.world import KEY, SIBLING, Team

SCENARIOS = Path(__file__).parents[2] / "bot/rehearse/scenarios"
# The sweep of one recipe is forecast at about five GPU-hours once its smoke has run.
ASKS = "  # A sweep that costs more waits until a maintainer puts the label full-sweep-enabled.\n  approve-above: 4\n"
BESIDE = "policies:\n  # The old image once more on the day of the sweep, at the same points.\n  larch72b-*: {control-arm: same-day}\n"
STORIES = {
    stories.GREEN: (stories.green, Team(limits=ASKS)),
    stories.MOVED: (stories.moved_tag, None),
    stories.TAKEN: (stories.takeover, None),
    stories.STALE: (stories.stale_cache, None),
    stories.CONTROL: (stories.control_arm, Team(limits=BESIDE)),
    stories.LATER: (stories.staged_later, None),
    stories.FULL: (stories.deferred, None),
    stories.FAMILY: (stories.family, Team(keys=(KEY, SIBLING))),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=SCENARIOS)
    make(parser.parse_args().into)


def make(scenarios: Path) -> None:
    """Every scenario's folder, whole; those without a team share the one of `green`."""
    for name, (story, team) in STORIES.items():
        folder = scenarios / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        text, runs = story()
        (folder / "scenario.yaml").write_text(text)
        if team is not None:
            team.write(folder)
        for run in runs:
            run.write(folder / "artifacts")
    (scenarios / stories.MOVED / "registry.yaml").write_text(world.NOTE + world.REGISTRY + world.AGAIN)


if __name__ == "__main__":
    main()
