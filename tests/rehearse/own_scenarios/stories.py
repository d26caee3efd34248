"""The stories: who does what when, what each run measures, and how each ends."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from tests.rehearse.own_scenarios import jobs, numbers, world
from tests.rehearse.own_scenarios.jobs import Run, gate, point, unfetched
from tests.rehearse.own_scenarios.world import KEY, NEW, OLD, SIBLING

ATTRIBUTION = (
    "Everything is invented: the team, the model, the commits, the images' bytes and every number and log line, and what\n"
    "  SGLang v0.5.22 is said to do. tests/rehearse/make_own_scenarios.py makes this folder."
)
GREEN, MOVED, TAKEN, FAMILY, STALE, CONTROL = "green", "moved-tag", "takeover", "family", "stale-cache", "control-arm"
LATER, FULL = "staged-later", "deferred"
# The launcher keeps squash files by tag; somebody has put the old image under the new one's name.
SQUASH = "lmsysorg_sglang_v0.5.22.sqsh"
# Latencies of the new image as a share of the old one's, where nothing is wrong with it.
BETTER = {"ttft": 0.985, "itl": 0.988}
# What the new image does to multi-token prediction in the middle of the curve, and how a second look finds it.
# A day on which the whole cluster is slower than when the baseline was published, the old image as much as the new one.
HOT = {"ttft": 1.12, "itl": 1.1}
SLOWER, STILL = {"ttft": 1.09, "itl": 1.19}, {"ttft": 1.08, "itl": 1.185}

HEAD = """version: 1
name: {name}
about: >-
  {about}
attribution: >-
  {attribution}
{shares}clock: {{start: 2026-10-05T08:00:00Z}}
repository: {{owner: northwind-bench, name: recipes, branch: main, first_number: 58}}
layout: own
recipe: {key}
accounts:
  bot: bumpbot[bot]
  default: github-actions[bot]
  people:
    - {{login: maintainer-a, name: Maintainer A, email: maintainer-a@example.com, permission: admin}}
    - {{login: engineer-b, name: Engineer B, email: engineer-b@example.com, permission: write}}
workflows:
  - file: smoke.yml
    name: Smoke
    run_name: "Smoke {{inputs.nonce}}"
    triggers:
      workflow_dispatch: {{inputs: [recipe, commit, nonce, points, eval-limit, fail-fast]}}
  - file: sweep.yml
    name: Sweep
    run_name: "Sweep {{inputs.nonce}}"
    triggers:
      workflow_dispatch: {{inputs: [recipe, commit, nonce, points, eval-limit, fail-fast]}}
{fleet}pools:
  # One node of eight H200: two jobs of four GPUs at a time.
  - {{label: h200, capacity: 2}}
# The wake workflow's cron, at minutes 5, 20, 35 and 50.
schedule: {{first: 2026-10-05T08:05:00Z, minutes: 15}}
variants:
  own:
    policy:
      smoke: {{stages: [{stages}]}}
      caps: {{gpu_hours: 40}}
      style: folded
    until: 2026-10-05T14:00:00Z
    expect: {{outcome: {outcome}, cause: {cause}, repairs_used: 0{before}}}
    events:
      - {{do: dispatch, at: 2026-10-05T08:06:00Z, by: maintainer-a, recipe: {key}, image: "lmsysorg/sglang:v0.5.22"}}
{events}    runs:
{runs}
"""


def at(hour: int, minute: int) -> datetime:
    """A moment of the stories' one day."""
    return datetime(2026, 10, 5, hour, minute, tzinfo=UTC)


BEGUN = at(8, 6)


def green() -> tuple[str, tuple[Run, ...]]:
    """It validates after one retry that the image is not to blame for."""
    sampled = _sampled(7300410021, BEGUN, (KEY,))
    lowest = Run(7300410388, "smoke.yml", sampled.over, ((unfetched(KEY, 1, 1.4),), (point(KEY, 1, 8.3, **BETTER),)),
                 "Stage 2, the lowest concurrency: the node cannot fetch the load generator; once more, it can.")
    runs = (sampled, lowest, _highest(7300411102, lowest.over, (KEY,)), _sweep(7300418874, at(9, 20), {KEY: {}}))
    events = """      # The sweep costs more than the layout lets the bot spend unasked, so it waits for this label.
      - {do: label, at: 2026-10-05T09:20:00Z, by: maintainer-a, name: full-sweep-enabled}
"""
    about = ("A recipe of bumpbot's own kind moves to a new SGLang release. One job of the smoke fails because its node cannot fetch\n"
             "  a package, and passes when it is run again; the sweep waits for a maintainer's label, and finds nothing slower.")
    return _told(GREEN, about, runs, events, outcome="validated", cause="verdict"), runs


def moved_tag() -> tuple[str, tuple[Run, ...]]:
    """The candidate's tag is pushed again before the sweep that a maintainer asks for."""
    sampled = _sampled(7300510021, BEGUN, (KEY,))
    lowest = _lowest(7300510388, sampled.over, (KEY,))
    runs = (sampled, lowest, _highest(7300511102, lowest.over, (KEY,)))
    events = """      - {do: repush, at: 2026-10-05T09:00:00Z, image: "lmsysorg/sglang:v0.5.22", to: v0.5.22-rebuilt}
      - {do: label, at: 2026-10-05T09:02:00Z, by: maintainer-a, name: full-sweep-enabled}
"""
    about = ("The smoke of the new image has passed and a maintainer asks for the sweep, but the image's tag was pushed again in the\n"
             "  meantime: what was smoked is no longer what the tag holds, and nobody sweeps it.")
    return _told(MOVED, about, runs, events, outcome="superseded", cause="none", shares=GREEN), runs


def takeover() -> tuple[str, tuple[Run, ...]]:
    """A person goes on by hand while the smoke runs."""
    sampled = _sampled(7300610021, BEGUN, (KEY,))
    second = Run(7300610388, "smoke.yml", sampled.over, ((jobs.lost(point(KEY, 1, 8.3)),),),
                 "Stage 2 is cancelled when the pull request becomes a person's.")
    text = world.recipe(KEY, NEW).replace("max-running-requests: 160", "max-running-requests: 192")
    written = "".join(f"            {line}\n" for line in text.splitlines())
    events = f"""      - do: push
        at: 2026-10-05T08:19:00Z
        by: engineer-b
        pull: newest
        message: "Try a larger batch with the new scheduler"
        write:
          recipes/{KEY}.yaml: |
{written}      - {{do: label, at: 2026-10-05T08:19:20Z, by: engineer-b, name: bumpbot-handoff}}
"""
    about = ("While the smoke runs, an engineer pushes to the pull request's branch and labels it as theirs: the bot stops what it\n"
             "  started and leaves the pull request as it is.")
    return _told(TAKEN, about, (sampled, second), events, outcome="handed-off", cause="person", shares=GREEN), (sampled, second)


def family() -> tuple[str, tuple[Run, ...]]:
    """Two recipes move together; one is slower at one point, and a second look at that point finds the same."""
    keys = (KEY, SIBLING)
    sampled = _sampled(7300710021, BEGUN, keys)
    lowest = _lowest(7300710388, sampled.over, keys)
    highest = _highest(7300711102, lowest.over, keys)
    sweep = _sweep(7300712745, highest.over, {KEY: {}, SIBLING: {64: SLOWER}})
    repeat = Run(7300716630, "smoke.yml", sweep.over, ((point(SIBLING, 64, 11.2, **STILL),),),
                 "The repeat: exactly the point that looked slower, once more.")
    runs = (sampled, lowest, highest, sweep, repeat)
    about = ("A recipe and its sibling with multi-token prediction move in one bump. The sibling is slower at 64 users in the sweep;\n"
             "  a repeat of that point alone confirms it, and the family does not move.")
    return _told(FAMILY, about, runs, "", outcome="regressed", cause="verdict"), runs


def stale_cache() -> tuple[str, tuple[Run, ...]]:
    """The launcher's cache serves the old image; the eval passes, the server's log gives it away, and no sweep is paid for."""
    job = gate(KEY, 7.4, asked=numbers.SAMPLE, correct=(96, 96), ran=OLD, cache=SQUASH)
    runs = (Run(7300810021, "smoke.yml", BEGUN, ((job,),), "Stage 1: 100 questions, answered by the image before."),)
    about = ("The smoke's eval passes, but the server's log says that the old image answered it, out of a squash file kept under the\n"
             "  new one's name. The bump ends before a sweep measures the old image once more, and the file to delete is named.")
    return _told(STALE, about, runs, "", outcome="uncertain", cause="none", shares=GREEN), runs


def control_arm() -> tuple[str, tuple[Run, ...]]:
    """Both images are slower than what was published: only the old one beside the sweep tells the day from the image."""
    slow = {name: HOT[name] * BETTER[name] for name in HOT}
    sampled = _sampled(7300910021, BEGUN, (KEY,))
    lowest = Run(7300910388, "smoke.yml", sampled.over, ((point(KEY, 1, 8.9, **slow),),), "Stage 2: the lowest concurrency.")
    highest = Run(7300911102, "smoke.yml", lowest.over, ((point(KEY, 128, 13.4, **slow),),), "Stage 3: the highest concurrency.")
    sweep = _sweep(7300912745, highest.over, {KEY: dict.fromkeys(numbers.LEVELS, slow)})
    lasted = {1: 9.0, 16: 10.4, 64: 11.9, 128: 13.6}
    arm = Run(7300914102, "smoke.yml", sweep.at, (tuple(point(KEY, conc, minutes, **HOT, tag=OLD) for conc, minutes in lasted.items()),),
              "The control arm: every point of the old image, as the sweep leaves the node.", jobs.busy_until(sweep))
    runs = (sampled, lowest, highest, sweep, arm)
    about = ("The cluster is a tenth slower than on the day of the published baseline. The policy asks for the old image beside the\n"
             "  sweep; it is as slow, that run is the baseline, and the new image is not blamed for the day.")
    return _told(CONTROL, about, runs, "", outcome="validated", cause="verdict"), runs


def staged_later() -> tuple[str, tuple[Run, ...]]:
    """Nobody has put the image where the fleet's launcher looks; when somebody has, the same request goes through."""
    runs = (_sampled(7301010021, at(8, 46), (KEY,)),)
    events = f"""      # Soon afterwards nothing has changed, and the bot says so from memory.
      - {{do: dispatch, at: 2026-10-05T08:21:00Z, by: maintainer-a, recipe: {KEY}, image: "lmsysorg/sglang:v0.5.22"}}
      - {{do: dispatch, at: 2026-10-05T08:46:00Z, by: maintainer-a, recipe: {KEY}, image: "lmsysorg/sglang:v0.5.22"}}
      - {{do: comment, at: 2026-10-05T08:58:00Z, by: maintainer-a, body: "/bump stop"}}
"""
    old, new = (f"{world.reference(tag).translate(str.maketrans('/:@', '___'))}.sqsh" for tag in (OLD, NEW))
    fleet = f"""fleet:
  staged:
    - runner: h200
      images: [{old}]
      models: [northwind/Larch-72B]
      source: what the fleet's operator last listed
    - runner: h200
      at: 2026-10-05T08:40:00Z
      images:
        - {old}
        - {new}
      models: [northwind/Larch-72B]
      source: what the fleet's operator last listed
"""
    about = ("The fleet's launcher takes only images that somebody has put there, and the new one is not among them: nothing is opened.\n"
             "  Asked again soon, the bot answers from memory. Once the image is there the same request goes on to its smoke; a person\n"
             "  stops it before the sweep.")
    return _told(LATER, about, runs, events, outcome="stopped", cause="person", shares=GREEN, fleet=fleet, stages="evals",
                 before="readiness-blocked"), runs


def deferred() -> tuple[str, tuple[Run, ...]]:
    """The smoke has passed when the cluster fills up: the sweep waits for another day, and the smoke is kept for it."""
    runs = (_sampled(7301110021, BEGUN, (KEY,)),)
    events = """      - {do: label, at: 2026-10-05T08:22:00Z, by: maintainer-a, name: full-sweep-enabled}
"""
    fleet = """fleet:
  loads:
    - {cluster: h200, nodes: 12, idle: 5, source: what the cluster's scheduler answers}
    - {cluster: h200, at: 2026-10-05T08:12:00Z, nodes: 12, idle: 0, queued: 9, source: what the cluster's scheduler answers}
"""
    about = ("A bump begins while the cluster has room, and its smoke passes. When a maintainer asks for the sweep the cluster is full:\n"
             "  the sweep is put off without a run, and the smoke that passed is kept.")
    return _told(FULL, about, runs, events, outcome="capacity-deferred", cause="none", shares=GREEN, fleet=fleet, stages="evals"), runs


def _sampled(run: int, when: datetime, keys: Sequence[str]) -> Run:
    made = tuple(gate(key, 7.4 if key == KEY else 7.1, asked=numbers.SAMPLE, correct=(96 - index, 96 - index))
                 for index, key in enumerate(keys))
    return Run(run, "smoke.yml", when, (made,), "Stage 1: 100 questions of every eval that gates the sweep.")


def _lowest(run: int, when: datetime, keys: Sequence[str]) -> Run:
    made = tuple(point(key, 1, 8.3 if key == KEY else 7.6, **BETTER) for key in keys)
    return Run(run, "smoke.yml", when, (made,), "Stage 2: the lowest concurrency.")


def _highest(run: int, when: datetime, keys: Sequence[str]) -> Run:
    made = tuple(point(key, 128, 12.8 if key == KEY else 12.1, **BETTER) for key in keys)
    return Run(run, "smoke.yml", when, (made,), "Stage 3: the highest concurrency.")


def _sweep(run: int, when: datetime, wrong: dict[str, dict[int, dict[str, float]]]) -> Run:
    """Every point and eval; `wrong` maps a recipe to the concurrencies at which it is not as it should be."""
    lasted = {1: 8.4, 16: 9.6, 64: 11.1, 128: 12.9}
    made = [point(key, conc, minutes, **bad.get(conc, BETTER)) for key, bad in wrong.items() for conc, minutes in lasted.items()]
    made += [gate(key, 13.5, asked=numbers.QUESTIONS, correct=(1269 + index, 1272)) for index, key in enumerate(wrong)]
    return Run(run, "sweep.yml", when, (tuple(made),), "The full sweep: every point, and the whole eval.")


def _told(name: str, about: str, runs: Sequence[Run], events: str, *, outcome: str, cause: str, shares: str = "", fleet: str = "",
          before: str = "", stages: str = "evals, lowest, highest") -> str:
    said = f"# The world is that of the scenario beside it; only what happens in it differs.\nshares: {shares}\n" if shares else ""
    return HEAD.format(name=name, about=about, attribution=ATTRIBUTION, shares=said, key=KEY, outcome=outcome, cause=cause,
                       events=events, runs=jobs.told(runs, "      ") if runs else "      []", fleet=fleet, stages=stages,
                       before=f", before: [{before}]" if before else "")
