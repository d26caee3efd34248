"""The world of both scenarios as YAML: repository, accounts, workflows, runners; and what other people push meanwhile."""

from __future__ import annotations

import json

from tests.rehearse.kimi_k3_gb200 import numbers
from tests.rehearse.kimi_k3_gb200.numbers import NEW

WORLD = """clock: {start: 2026-09-10T06:35:00Z}
repository: {owner: SemiAnalysisAI, name: InferenceX, branch: main, first_number: 2956}
layout: inferencex
recipe: %(recipe)s
# Real digests are declared: bytes that we could make up do not have them.
registry: {declared_digests: true}
accounts:
  bot: bumpbot[bot]
  default: github-actions[bot]
  people:
    - {login: maintainer-a, name: Maintainer A, email: maintainer-a@example.com, permission: admin}
    - {login: engineer-b, name: Engineer B, email: engineer-b@example.com, permission: write}
    - {login: engineer-c, name: Engineer C, email: engineer-c@example.com, permission: write}
    - {login: passer-by, name: Passer By, email: passer-by@example.com, permission: read}
workflows:
  - file: e2e-tests.yml
    name: e2e Test
    run_name: "e2e Test - {inputs.test-name}"
    triggers:
      workflow_dispatch:
        inputs: [generate-cli-command, test-name, ref, duration-override, require-power, power-producer-sha, agentx-fast, eval-limit,
                 swebench-gen-mode, changelog-base-ref, changelog-head-ref, trim-conc, all-evals, evals-only, fail-fast, pr-labels-json,
                 klaud-run]
  - file: run-sweep.yml
    name: Run Sweep
    run_name: "Run Sweep - {title}"
    triggers:
      push: {branches: [main], paths: [perf-changelog.yaml]}
      pull_request: {types: [ready_for_review, synchronize, labeled, unlabeled], branches: [main], paths: [perf-changelog.yaml]}
    labels: [sweep-enabled, full-sweep-enabled, non-canary-full-sweep-enabled, full-sweep-fail-fast, full-sweep-fail-fast-no-canary]
    modifiers: [all-evals, evals-only, agentx-fast, skip_queue, ci-patchwork, engine-patch, ci-patchwork-waived, ci-checklist-complete]
    # Drafts sweep here since September.
    drafts: true
    group: "sweep-{number}-active"
    cancel_in_progress: true
pools:
  # Four registered runners, each one allocation of four nodes: a fifth job waits.
  - {label: "cluster:gb200-nv", capacity: 4}
# The wake workflow's cron, at minutes 5, 20, 35 and 50.
schedule: {first: 2026-09-10T06:35:00Z, minutes: 15}
variants:
"""
ASKED = """    events:
      - {do: dispatch, at: 2026-09-10T06:40:00Z, by: maintainer-a, recipe: %(recipe)s,
         image: "%(image)s"}
"""
PEOPLE = (
    (
        "08:10:00",
        "engineer-b",
        "[GB300] Kimi-K3 DSpark: refresh with lower stream interval (#2951)",
        2951,
        "Refresh with lower stream interval to collect correct client metrics.",
    ),
    (
        "08:47:00",
        "engineer-c",
        "[GB200] Kimi-K3: bump the router pin (#2954)",
        2954,
        "Move the router of the TP16, TEP16 and DEP16 arms to the version that the recipes install.",
    ),
)
PEOPLE_KEYS = {
    2951: "kimik3-fp4-gb300-dynamo-vllm-agentic-dspark-mooncake-dcp8-agg",
    2954: "kimik3-fp4-gb200-dynamo-vllm-agentic",
}


def world(name: str, about: str, attribution: str, shares: str = "") -> str:
    """scenario.yaml down to its variants."""
    head = f"version: 1\nname: {name}\nabout: >-\n{about}attribution: >-\n{attribution}"
    return head + (f"shares: {shares}\n" if shares else "") + WORLD % {"recipe": numbers.RECIPE}


def asked() -> str:
    """The maintainer's dispatch that begins the bump."""
    return ASKED % {"recipe": numbers.RECIPE, "image": NEW}


def pushed() -> str:
    """The entries that others land on main while the bump is under way."""
    return "".join(entry(*one) for one in PEOPLE)


def entry(when: str, who: str, message: str, number: int, line: str) -> str:
    """A changelog entry that somebody lands on main while the second smoke runs: the next append conflicts with it."""
    return (
        f"      - do: push\n        at: 2026-09-10T{when}Z\n        by: {who}\n        message: {json.dumps(message)}\n"
        "        append:\n          perf-changelog.yaml: |\n\n"
        f"            - config-keys:\n                - {PEOPLE_KEYS[number]}\n              scenario-type:\n                - agentic-coding\n"
        f"              description:\n                - {json.dumps(line)}\n"
        f"              pr-link: https://github.com/SemiAnalysisAI/InferenceX/pull/{number}\n"
    )
