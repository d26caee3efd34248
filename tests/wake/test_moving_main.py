"""A default branch that changes a workflow and appends to the changelog while a bump waits: the bump still gets its sweep."""

from __future__ import annotations

from bot.recipe import changelog
from bot.rehearse.world import World
from tests.wake.conftest import Stage, begun

FLOW, LOG = ".github/workflows/run-sweep.yml", "perf-changelog.yaml"


def labelled(world: World) -> bool:
    return any(run.event == "pull_request" and run.action == "labeled" for run in world.hub.runs_made())


def test_a_bump_is_swept_though_main_changed_a_workflow_and_the_changelog(stage: Stage) -> None:
    world = stage.world
    stage.play(begun)
    world.hub.person(world.scenario.declared.accounts.people[0].login).push("main", {FLOW: b"on: push\n"}, "A new sweep")
    stage.play(labelled)
    git, head, main = world.hub.git, world.hub.pulls()[0].head, world.hub.git.resolve("main")

    def read(commit: str, path: str) -> bytes:
        return git.blob(git.entry(commit, path)[1])

    assert git.commit(head).parents[0] == main and read(head, FLOW) == read(main, FLOW) == b"on: push\n"
    assert git.merged_tree(main, head) == git.commit(head).tree, "it merges into main as it stands"
    style = stage.bot("first").context().layout.changelog
    assert read(head, LOG) != read(main, LOG) and changelog.check(read(main, LOG), read(head, LOG), style) == ()
