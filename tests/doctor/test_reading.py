"""Workflow files as people write them: which job runs the bot, what it names, what it is given."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bot.doctor.facts import Files
from bot.doctor.reading import files, workflow

WAKE = ".github/workflows/w.yml"


class Held:
    """Files in memory."""

    def __init__(self, **texts: str) -> None:
        self._texts = texts

    def read(self, path: str) -> bytes | None:
        found = self._texts.get(path)
        return None if found is None else found.encode()

    def paths(self, prefix: str = "") -> Sequence[str]:
        return sorted(path for path in self._texts if path.startswith(prefix))


def read(texts: dict[str, str]) -> Files:
    return files(Held(**texts), None)


def steps(*steps: str, more: str = "") -> str:
    return "on: push\njobs:\n  a:\n" + more + "    steps:\n" + "".join(f"      - {step}\n" for step in steps)


class TestTheJobThatRunsTheBot:
    @pytest.mark.parametrize("step", [
        "run: bumpbot wake --event schedule", 'run: "$X/bin/bumpbot --offline wake"', "uses: acme/bumpbot@v1", "uses: Acme/BumpBot@v1",
    ])
    def test_is_known_by_its_command_or_action(self, step: str) -> None:
        assert read({WAKE: steps(step)}).workflows[WAKE].wakes

    @pytest.mark.parametrize("step", ["run: bumpbot doctor", "run: wake up", "uses: acme/bumpbot-tools@v1",
                                      "{uses: acme/bumpbot@v1, with: {wake: 'false'}}"])
    def test_is_no_other(self, step: str) -> None:
        assert not read({WAKE: steps(step)}).workflows[WAKE].wakes

    @pytest.mark.parametrize(("use", "path"), [("./", "action.yml"), ("./tools/bot", "tools/bot/action.yaml")])
    def test_is_known_by_an_action_of_its_own_repository(self, use: str, path: str) -> None:
        action = "runs:\n  using: composite\n  steps:\n    - run: |\n        x=1\n        \"$X/bumpbot\" wake\n    - uses: a/b@v1\n"
        found = read({WAKE: steps(f"uses: {use}"), path: action})
        assert found.workflows[WAKE].wakes
        assert found.actions[use].jobs[0].uses == ("a/b@v1",)

    def test_that_leaves_the_repository_or_is_absent_is_not_looked_for(self) -> None:
        assert read({WAKE: steps("uses: ./../x", "uses: ./gone")}).actions == {}


class TestTheKey:
    def test_is_what_the_job_gives_to_a_field_for_one(self) -> None:
        step = "{uses: a/token@v1, with: {private-key: '${{ secrets.MY_APP }}', name: '${{ secrets.OTHER }}'}}"
        found = read({WAKE: steps("run: bumpbot wake", step)})
        assert found.keys == ("MY_APP",)
        assert found.workflows[WAKE].jobs[0].secrets == ("MY_APP", "OTHER")

    @pytest.mark.parametrize("text", ["${{ secrets.Mine }}", "${{ secrets['Mine'] }}", '${{ secrets["MINE"] }}', "${{ x || secrets.MINE }}"])
    def test_is_seen_however_it_is_written(self, text: str) -> None:
        found = read({WAKE: steps("run: bumpbot wake", more=f"    env: {{BUMPBOT_TOKEN: {text!r}}}\n")})
        assert found.keys == ("MINE",)

    def test_is_given_to_every_job_by_the_workflow_s_environment(self) -> None:
        found = read({WAKE: "env: {GH_TOKEN: '${{ secrets.MINE }}'}\n" + steps("run: bumpbot wake")})
        assert found.keys == ("MINE",)

    def test_is_never_the_job_s_own_token(self) -> None:
        found = read({WAKE: steps("run: bumpbot wake", more="    env: {GITHUB_TOKEN: '${{ secrets.GITHUB_TOKEN }}'}\n")})
        assert found.keys == ("BUMPBOT_APP_PRIVATE_KEY",)  # the usual name, where none is said

    def test_of_a_job_that_does_not_run_the_bot_is_another_matter(self) -> None:
        found = read({WAKE: steps("run: bumpbot wake"), ".github/workflows/d.yml": steps("{run: x, env: {TOKEN: '${{ secrets.D }}'}}")})
        assert found.keys == ("BUMPBOT_APP_PRIVATE_KEY",)


class TestTriggers:
    @pytest.mark.parametrize("on", ["workflow_dispatch", "[push, workflow_dispatch]", "{workflow_dispatch: {}}", "{workflow_dispatch: }",
                                    "{workflow_dispatch: {inputs: }}"])
    def test_may_be_a_word_a_list_or_a_mapping(self, on: str) -> None:
        assert workflow("w.yml", f"on: {on}\njobs: {{}}\n".encode()).inputs == {}

    @pytest.mark.parametrize("text", ["{}", "on: push", "jobs: 3", "on: 3", "on: {workflow_dispatch: {inputs: [a]}}", "on: {workflow_dispatch: 3}\njobs: {a: 3, b: {steps: 3}}",
                                      "on: push\njobs: {a: {steps: [3, {uses: 3}], environment: 3, env: 3}}"])
    def test_of_another_shape_are_no_crash(self, text: str) -> None:
        assert workflow("w.yml", text.encode()).fault in ("", "w.yml: no workflow: not a mapping")
