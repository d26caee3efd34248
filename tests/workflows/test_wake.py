"""wake.yml as it runs: which events reach the bot, with which tokens, and what the bot then asks of GitHub."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.workflows.payloads import comment, ended, pull, stock
from tests.workflows.repository import Repository, read

pytestmark = pytest.mark.needs("act")
MAIN = "checkout ref=main persist-credentials=false "
PERMISSION = "collaborators/{}/permission"
NOBODY_CAME: dict[str, str] = {}
ASKED_ONLY = {"Who asks": "success"}
BREAKING = ("$(touch {0})", "`touch {0}`", "'; touch {0}; '", '"; touch {0}; "', "EOF\ntouch {0}", "::error::forged",
            "${{{{ secrets.BUMPBOT_APP_PRIVATE_KEY }}}}")
WOKEN = {"Who asks": "success", "Wake": "success"}


def narrowed(asked: dict[str, str]) -> dict[str, str]:
    """Permission -> level of a token that was asked for."""
    return {name.removeprefix("permission-"): level for name, level in asked.items() if name.startswith("permission-")}


class TestByHand:
    def test_a_recipe_and_an_image_go_from_the_branch_to_the_dispatched_smoke(self, here: Repository) -> None:
        ran = here.begin()
        assert (ran.code, ran.jobs) == (0, {"Wake": "success"}), ran.log
        made, = here.world.hub.pulls()
        assert made.draft and made.author.login == "bumpbot[bot]" and f"{here.image}:v1.1.0" in made.body
        sent, = [one.sent for one in here.asked if one.method == "POST" and one.path.endswith("smoke.yml/dispatches")]
        assert sent["ref"] == "main"
        assert sent["inputs"]["commit"] == made.head and sent["inputs"]["recipe"] == "toy"
        for secret in ("the-key-of-the-app", here.world.tokens["bot"], here.world.tokens["default"]):
            assert secret not in ran.log
        assert set(sent["inputs"]) <= set(read("smoke.yml")["on"]["workflow_dispatch"]["inputs"])

    def test_main_alone_is_checked_out_and_every_token_is_narrowed_to_its_use(self, begun: Repository) -> None:
        ran = begun.wake("schedule", begun.facts(), variables={"BUMPBOT_LEDGER_REPOSITORY": "books"})
        assert [note for note in ran.notes if note.startswith("checkout")] == [MAIN]
        app, books = [json.loads(note.removeprefix("app-token ")) for note in ran.notes if note.startswith("app-token")]
        assert narrowed(app) == dict.fromkeys(("actions", "contents", "issues", "pull-requests"), "write")
        assert narrowed(books) == {"contents": "write"} and books["repositories"] == "books"


class TestTheSchedule:
    def test_looks_at_every_bump_and_finds_nothing_to_do(self, here: Repository) -> None:
        assert here.begin().code == 0
        ran = here.wake("schedule", here.facts())
        assert (ran.code, ran.jobs, here.writes) == (0, {"Wake": "success"}, [])
        assert "pulls/7" in here.reads and "0 steps" in ran.log


class TestWithoutAnApp:
    def test_it_stops_at_the_drafts_branch_and_says_so(self, here: Repository) -> None:
        store, token = here.world.hub.store, here.world.tokens["default"]
        store.tokens[token] = replace(store.tokens[token], permission="read")  # what wake.yml leaves to the job's own token
        ran = here.begin(app=False)
        assert any("No GitHub App is configured" in told for told in ran.commands)
        assert not [note for note in ran.notes if note.startswith("app-token")]
        assert any(ref.startswith("refs/heads/bumpbot/toy-") for ref in here.world.hub.git.refs("refs/heads/"))
        assert here.world.hub.pulls() == [] and here.writes == []
        assert "POST /repos/acme/recipes/pulls: the forge answered 403" in ran.log


class TestTheMode:
    def test_off_asks_nothing_of_anybody(self, begun: Repository) -> None:
        ran = begun.wake("schedule", begun.facts(), variables={"BUMPBOT_MODE": "off"})
        assert ran.code == 0 and begun.asked == [] and "BUMPBOT_MODE is off" in ran.log

    def test_propose_ends_at_the_draft(self, here: Repository) -> None:
        assert here.begin(variables={"BUMPBOT_MODE": "propose"}).code == 0
        assert len(here.world.hub.pulls()) == 1 and here.world.hub.runs_made() == []


class TestAComment:
    def test_of_somebody_with_write_is_answered_once(self, begun: Repository) -> None:
        made = begun.person("ada").comment(7, "/bump status")
        event = comment(begun.facts(), "ada", made.body, id_=made.id)
        ran = begun.wake("issue_comment", event)
        assert (ran.code, ran.jobs) == (0, WOKEN), ran.log
        assert begun.reads[0] == PERMISSION.format("ada")
        assert {("POST", "issues/7/comments"), ("POST", f"issues/comments/{made.id}/reactions")} <= set(begun.writes)
        assert begun.wake("issue_comment", event).jobs == WOKEN and begun.writes == []

    def test_is_obeyed_as_it_was_written_and_not_as_it_was_edited(self, here: Repository) -> None:
        assert here.begin().code == 0
        ada = here.person("ada")
        made = ada.comment(7, "Looks good")
        here.world.clock.advance_to(here.world.clock.now() + timedelta(minutes=1))
        ada.edit_comment(made.id, "/bump stop")
        edited = comment(here.facts(), "ada", "/bump stop", name="issue_comment.edited", id_=made.id)
        assert here.wake("issue_comment", edited).jobs == WOKEN, "act knows no types; test_reading holds them"
        run, = here.world.hub.runs_made()
        assert ("POST", f"actions/runs/{run.id}/cancel") not in here.writes
        asked = ada.comment(7, "/bump stop")
        assert here.wake("issue_comment", comment(here.facts(), "ada", asked.body, id_=asked.id)).code == 0
        assert ("POST", f"actions/runs/{run.id}/cancel") in here.writes

    def test_of_somebody_who_only_reads_is_asked_about_and_goes_no_further(self, begun: Repository) -> None:
        made = begun.person("eve").comment(7, "/bump stop")
        ran = begun.wake("issue_comment", comment(begun.facts(), "eve", made.body, id_=made.id))
        assert (ran.code, ran.jobs) == (0, ASKED_ONLY)
        assert begun.reads == [PERMISSION.format("eve")] and begun.writes == []

    @pytest.mark.parametrize(("association", "kind", "body"), [
        ("NONE", "User", "/bump stop"), ("CONTRIBUTOR", "User", "/bump stop"), ("COLLABORATOR", "Bot", "/bump stop"),
        ("OWNER", "User", "please bump it"),
    ])
    def test_that_is_no_command_or_of_a_stranger_or_a_bot_starts_no_job(self, begun: Repository, association: str, kind: str,
                                                                       body: str) -> None:
        ran = begun.wake("issue_comment", comment(begun.facts(), "ada", body, association=association, kind=kind))
        assert (ran.code, ran.jobs, begun.asked) == (0, NOBODY_CAME, [])

    def test_on_an_issue_is_not_for_the_bot(self, begun: Repository) -> None:
        event = comment(begun.facts(), "ada", "/bump status")
        event["issue"]["pull_request"] = None
        assert begun.wake("issue_comment", event).jobs == NOBODY_CAME

    def test_as_github_shows_it_starts_no_job(self, begun: Repository) -> None:
        assert stock("issue_comment.created")["comment"]["body"].startswith("You are totally right! I'll get")
        assert begun.wake("issue_comment", stock("issue_comment.created")).jobs == NOBODY_CAME

    def test_that_would_break_a_shell_is_only_text(self, begun: Repository, tmp_path: Path) -> None:
        broken = tmp_path / "broken"
        body = "\n".join([f"/bump status {stock('issue_comment.created')['comment']['body']}", *(end.format(broken) for end in BREAKING)])
        made = begun.person("ada").comment(7, body)
        ran = begun.wake("issue_comment", comment(begun.facts(), "ada", made.body, id_=made.id))
        assert (ran.code, ran.jobs) == (0, WOKEN), ran.log
        assert ("POST", f"issues/comments/{made.id}/reactions") in begun.writes
        assert not broken.exists()
        assert not any("forged" in told for told in ran.commands)
        assert "the-key-of-the-app" not in ran.raw

    def test_by_a_login_that_is_none_asks_github_nothing(self, begun: Repository) -> None:
        ran = begun.wake("issue_comment", comment(begun.facts(), "ada/../../x?y=", "/bump status"))
        assert (ran.jobs, begun.asked) == ({"Who asks": "failure"}, [])


class TestAPullRequest:
    def test_labelled_by_somebody_with_write_wakes_the_bot(self, begun: Repository) -> None:
        begun.person("ada").label(7, "full-sweep-enabled")
        ran = begun.wake("pull_request_target", pull(begun.facts(), "ada"))
        assert (ran.code, ran.jobs) == (0, WOKEN), ran.log
        assert begun.reads[0] == PERMISSION.format("ada")
        after = begun.reads[1:]
        assert "issues/7/events" in after and PERMISSION.format("ada") in after, "the bot itself asks who put the label there"

    def test_labelled_by_somebody_without_write_does_not(self, begun: Repository) -> None:
        ran = begun.wake("pull_request_target", pull(begun.facts(), "eve"))
        assert (ran.code, ran.jobs, begun.reads) == (0, ASKED_ONLY, [PERMISSION.format("eve")])

    @pytest.mark.parametrize("name", ["pull_request.labeled", "pull_request.synchronize"])
    def test_of_a_fork_starts_no_job_whoever_touches_it(self, begun: Repository, name: str) -> None:
        ran = begun.wake("pull_request_target", pull(begun.facts(), "ada", name=name, head="mallory/recipes"))
        assert (ran.code, ran.jobs, begun.asked) == (0, NOBODY_CAME, [])

    def test_whose_fork_is_gone_starts_no_job(self, begun: Repository) -> None:
        event = pull(begun.facts(), "ada")
        event["pull_request"]["head"]["repo"] = None
        assert begun.wake("pull_request_target", event).jobs == NOBODY_CAME

    def test_pushed_to_wakes_the_bot_which_checks_out_main_all_the_same(self, begun: Repository) -> None:
        ran = begun.wake("pull_request_target", pull(begun.facts(), "ada", name="pull_request.synchronize"))
        assert ran.jobs == WOKEN
        assert [note for note in ran.notes if note.startswith("checkout")] == [MAIN]

    def test_that_the_bot_itself_touched_does_not_wake_it_again(self, begun: Repository) -> None:
        ran = begun.wake("pull_request_target", pull(begun.facts(), "bumpbot[bot]", kind="Bot"))
        assert (ran.jobs, begun.asked) == (NOBODY_CAME, [])


class TestTheEndOfARun:
    def test_of_the_smoke_is_looked_at_and_reported(self, here: Repository) -> None:
        assert here.begin().code == 0
        run, = here.world.hub.runs_made()
        here.world.clock.advance_to(here.world.clock.now() + timedelta(hours=11))
        here.world.hub.tick()
        ran = here.wake("workflow_run", ended(here.facts(), run.id, here.world.hub.pulls()[0].head))
        assert (ran.code, ran.jobs) == (0, {"Wake": "success"}), ran.log
        assert any(path.startswith(f"actions/runs/{run.id}") for path in here.reads)
        assert here.writes, "a smoke that failed is told on the pull request"

    @pytest.mark.parametrize(("event", "source"), [("pull_request", None), ("workflow_dispatch", "mallory/recipes")])
    def test_that_only_bears_the_name_starts_no_job(self, begun: Repository, event: str, source: str | None) -> None:
        ran = begun.wake("workflow_run", ended(begun.facts(), 5, "a" * 40, event=event, source=source))
        assert (ran.code, ran.jobs, begun.asked) == (0, NOBODY_CAME, [])


class TestAPushToMain:
    def test_wakes_the_bot(self, begun: Repository) -> None:
        event = stock("push") | begun.facts(ref="refs/heads/main", after=begun.world.hub.git.resolve("main"))
        ran = begun.wake("push", event)
        assert (ran.code, ran.jobs) == (0, {"Wake": "success"}), ran.log
        assert "pulls/7" in begun.reads
