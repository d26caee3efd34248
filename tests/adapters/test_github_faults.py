"""A forge that says no, stumbles or lies: each way becomes one of our errors, reads are patient, mutations are sent once."""

from __future__ import annotations

import io
import socket
from collections.abc import Callable
from datetime import timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from bot.adapters.github import GitHubForge
from bot.adapters.github.faults import fold, fold_graphql, words_of
from bot.errors import BadInput, BumpbotError, Conflict, Missing, Refusal, Unreachable
from tests.adapters.githubs import (
    LOGIN,
    REPOSITORY,
    Odd,
    Patience,
    Reply,
    always,
    comment_json,
    in_turn,
    odd,
    pull_json,
    run_json,
)
from tests.rehearse.github_world import START

Act = Callable[[GitHubForge], Any]
READS: dict[str, Act] = {
    "pull": lambda forge: forge.pull(1), "pull_of_branch": lambda forge: forge.pull_of_branch("b"),
    "labellings": lambda forge: forge.labellings(1), "comments": lambda forge: forge.comments(1),
    "runs": lambda forge: forge.runs("smoke.yml"), "run": lambda forge: forge.run(1), "jobs": lambda forge: forge.jobs(1),
    "artifacts": lambda forge: forge.artifacts(1), "download": lambda forge: forge.download(1, io.BytesIO(), 100),
    "permission": lambda forge: forge.permission("x"),
}
MUTATIONS: dict[str, Act] = {
    "open_pull": lambda forge: forge.open_pull(branch="b", base="main", title="t", body="", draft=True),
    "edit_pull": lambda forge: forge.edit_pull(1, title="t"), "label": lambda forge: forge.label(1, "x"),
    "unlabel": lambda forge: forge.unlabel(1, "x"), "comment": lambda forge: forge.comment(1, "x"),
    "edit_comment": lambda forge: forge.edit_comment(1, "x"), "react": lambda forge: forge.react(1, "eyes"),
    "dispatch": lambda forge: forge.dispatch("smoke.yml", ref="main", inputs={}), "cancel": lambda forge: forge.cancel(1),
    "rerun_failed": lambda forge: forge.rerun_failed(1),
}
every_read = pytest.mark.parametrize("act", READS.values(), ids=READS)
every_mutation = pytest.mark.parametrize("act", MUTATIONS.values(), ids=MUTATIONS)
SAYING = {"message": "no\nsuch\tluck", "documentation_url": "d"}
STATUSES: list[tuple[int, dict[str, str], Any, type[BumpbotError]]] = [
    (400, {}, SAYING, Refusal), (401, {}, {"message": "Bad credentials"}, Refusal), (403, {}, SAYING, Refusal),
    (403, {"X-RateLimit-Remaining": "4999"}, SAYING, Refusal), (403, {"X-RateLimit-Remaining": "0"}, SAYING, Unreachable),
    (403, {"Retry-After": "3600"}, SAYING, Unreachable), (404, {}, SAYING, Missing), (410, {}, SAYING, Missing),
    (422, {}, SAYING, BadInput), (429, {}, SAYING, Unreachable), (500, {}, SAYING, Unreachable), (502, {}, None, Unreachable),
    (503, {}, ["a list"], Unreachable), (451, {}, SAYING, Refusal), (405, {}, SAYING, Refusal),
]


def told(act: Act, forge: GitHubForge) -> BumpbotError:
    with pytest.raises(BumpbotError) as raised:
        act(forge)
    assert "\n" not in str(raised.value) and "secret-token" not in str(raised.value)
    return raised.value


class TestEachStatus:
    @pytest.mark.parametrize(("status", "headers", "value", "kind"), STATUSES)
    def test_of_a_read_is_one_of_our_errors(self, status: int, headers: dict, value: Any, kind: type[BumpbotError]) -> None:
        with odd(always(status, value, headers=headers)) as server:
            error = told(READS["pull"], server.forge())
        assert isinstance(error, kind)
        assert f"GET /repos/{REPOSITORY}/pulls/1: the forge answered {status}" in str(error)

    @pytest.mark.parametrize(("status", "headers", "value", "kind"), STATUSES)
    def test_of_a_mutation_is_the_same(self, status: int, headers: dict, value: Any, kind: type[BumpbotError]) -> None:
        with odd(always(status, value, headers=headers)) as server:
            error = told(MUTATIONS["comment"], server.forge())
            assert len(server.asked) == 1
        assert isinstance(error, kind) and f"answered {status}" in str(error)

    def test_a_conflict_is_one(self) -> None:
        with odd(always(409, {"message": "Head branch was modified"})) as server:
            assert isinstance(told(MUTATIONS["edit_pull"], server.forge()), Conflict)

    def test_what_github_says_is_told_in_one_line(self) -> None:
        said = {"message": "Validation Failed", "errors": [{"resource": "Label", "field": "name", "code": "missing"}, "two\nlines"]}
        with odd(always(422, said)) as server:
            assert "422: Validation Failed; Label name missing; two lines" in str(told(MUTATIONS["label"], server.forge()))
        assert len(words_of({"message": "x" * 5000})) == 300 and words_of([1]) == words_of("text") == ""

    @every_mutation
    def test_of_every_mutation_is_never_answered_by_sending_it_again(self, act: Act) -> None:
        for status in (500, 502, 503, 429):
            with odd(always(status, SAYING, headers={"Retry-After": "1"})) as server:
                clock = Patience()
                assert isinstance(told(act, server.forge(clock)), Unreachable)
                assert len(server.asked) == 1 and clock.slept == []

    def test_of_the_mark_as_ready_neither(self) -> None:
        with odd(lambda asked: Reply(502) if asked.method == "POST" else Reply(value=pull_json(draft=True))) as server:
            assert isinstance(told(lambda forge: forge.set_draft(1, False), server.forge()), Unreachable)
            assert [asked.method for asked in server.asked] == ["GET", "POST"]


class TestPatience:
    def test_a_read_is_repeated_after_one_two_and_four_seconds_and_then_given_up(self) -> None:
        clock = Patience()
        with odd(always(502, SAYING)) as server:
            told(READS["run"], server.forge(clock))
            assert len(server.asked) == 4
        assert clock.slept == [1.0, 2.0, 4.0]

    @every_read
    def test_every_read_survives_one_bad_moment(self, act: Act) -> None:
        clock = Patience()
        with odd(in_turn(Reply(503, SAYING), Reply(404, SAYING))) as server:
            try:
                act(server.forge(clock))
            except Missing:
                pass
            assert len(server.asked) == 2 and clock.slept == [1.0]

    def test_it_waits_as_long_as_a_secondary_limit_asks_and_no_longer(self) -> None:
        clock, limit = Patience(), Reply(403, {"message": "You have exceeded a secondary rate limit."}, {"Retry-After": "7"})
        with odd(in_turn(limit, limit, Reply(value=run_json(5)))) as server:
            assert server.forge(clock).run(5).id == 5
        assert clock.slept == [7.0, 7.0]

    def test_a_secondary_limit_that_names_no_time_is_given_a_minute(self) -> None:
        clock, limit = Patience(), Reply(403, {"message": "You have exceeded a secondary rate limit. Please wait."})
        with odd(in_turn(limit, Reply(value=run_json(5)))) as server:
            server.forge(clock).run(5)
        assert clock.slept == [60.0]

    def test_retry_after_may_be_a_date(self) -> None:
        clock, when = Patience(), format_datetime(START + timedelta(seconds=20), usegmt=True)
        with odd(in_turn(Reply(429, SAYING, {"Retry-After": when}), Reply(value=run_json(5)))) as server:
            server.forge(clock).run(5)
        assert clock.slept == [20.0]

    @pytest.mark.parametrize("headers", [
        {"Retry-After": "61"}, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(START.timestamp()) + 1800)}])
    def test_more_than_a_minute_is_not_waited_for(self, headers: dict) -> None:
        clock = Patience()
        with odd(always(403, SAYING, headers=headers)) as server:
            assert isinstance(told(READS["runs"], server.forge(clock)), Unreachable)
            assert len(server.asked) == 1
        assert clock.slept == []

    def test_a_limit_that_resets_soon_is_waited_for(self) -> None:
        clock, reset = Patience(), {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(START.timestamp()) + 30)}
        with odd(in_turn(Reply(403, {"message": "API rate limit exceeded"}, reset), Reply(value=run_json(5)))) as server:
            server.forge(clock).run(5)
        assert clock.slept == [30.0]

    def test_a_reset_time_of_a_limit_that_is_not_spent_is_no_wait(self) -> None:
        clock, told_always = Patience(), {"X-RateLimit-Remaining": "4000", "X-RateLimit-Reset": str(int(START.timestamp()) + 3000)}
        with odd(in_turn(Reply(502, None, told_always), Reply(value=run_json(5)))) as server:
            server.forge(clock).run(5)
        assert clock.slept == [1.0]

    @pytest.mark.parametrize("status", [401, 403, 404, 409, 422])
    def test_a_no_is_not_asked_for_twice(self, status: int) -> None:
        with odd(always(status, SAYING)) as server:
            told(READS["run"], server.forge())
            assert len(server.asked) == 1


def nobody() -> str:
    """An address on which nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


class TestALineThatBreaks:
    @pytest.mark.parametrize("act", [*READS.values(), *MUTATIONS.values()], ids=[*READS, *MUTATIONS])
    def test_nobody_there_is_unreachable(self, act: Act) -> None:
        forge = GitHubForge(nobody(), REPOSITORY, "secret-token", Patience(), login=LOGIN)
        assert isinstance(told(act, forge), Unreachable)

    @pytest.mark.parametrize("reply", [
        Reply(data=b'{"id": 1, "path"'), Reply(data=b""), Reply(data=b"<html>please log in</html>"), Reply(data=b"\xff\xfe"),
        Reply(data=b'{"id": 1', cut=True), Reply(data=b'{"id": 1, "id": 1}'), Reply(data=b'{"id": NaN}')])
    def test_half_an_answer_is_unreachable_not_bad_input(self, reply: Reply) -> None:
        with odd(lambda asked: reply) as server:
            for act in (READS["run"], READS["comments"]):
                assert isinstance(told(act, server.forge()), Unreachable)

    @pytest.mark.parametrize("reply", [
        Reply(201, data=b'{"id": 1, "bo'), Reply(201, data=b'{"id": 1', cut=True), Reply(201, data=b"[\xff"),
        Reply(201, data=b"ok")])
    def test_half_an_answer_to_a_mutation_says_that_it_may_have_taken_effect(self, reply: Reply) -> None:
        with odd(lambda asked: reply) as server:
            error = told(MUTATIONS["comment"], server.forge())
            assert len(server.asked) == 1
        assert isinstance(error, Unreachable) and "may have taken effect" in error.hint

    @pytest.mark.parametrize("reply", [Reply(201, data=b""), Reply(201, value=[]), Reply(201, value={"id": "x"})])
    def test_an_answer_of_another_shape_is_bad_input_with_its_key(self, reply: Reply) -> None:
        with odd(lambda asked: reply) as server:
            assert isinstance(told(MUTATIONS["comment"], server.forge()), BadInput)

    def test_an_answer_without_what_must_be_there_names_the_key(self) -> None:
        wrong = comment_json()
        del wrong["created_at"]
        with odd(always(200, [comment_json(2), wrong])) as server:
            assert "issues/1/comments: the key `created_at` is missing" in str(told(READS["comments"], server.forge()))
        with odd(always(200, {"workflow_runs": [run_json(created_at="2026-09-10T06:00:00")]})) as server:
            assert "created_at" in str(told(READS["runs"], server.forge()))
        with odd(always(200, {"message": "x"})) as server:
            assert "did not answer with a list" in str(told(READS["jobs"], server.forge()))

    def test_a_comment_of_a_deleted_account_has_no_author(self) -> None:
        with odd(always(200, [comment_json(user=None, body=None)])) as server:
            (comment,) = server.forge().comments(1)
        assert (comment.author, comment.bot, comment.body) == ("", False, "")


class TestPages:
    def test_a_next_page_on_another_host_is_refused_and_not_asked(self) -> None:
        with odd(always(200, [])) as other:
            by_name = other.url.replace("127.0.0.1", "localhost")
            for url in (f"{other.url}/repos/x", f"{by_name}/x", "https://evil.example/x", "/x", "//evil/x"):
                with odd(always(200, [comment_json()], headers={"Link": f'<{url}>; rel="next"'})) as server:
                    error = told(READS["comments"], server.forge())
                    assert isinstance(error, Refusal) and "another host" in str(error) and len(server.asked) == 1
            assert other.asked == []

    def test_pages_without_an_end_are_given_up(self) -> None:
        def again(asked: Any) -> Reply:
            return Reply(value=[comment_json()], headers={"Link": f'<http://{asked.headers["host"]}{asked.path}>; rel="next"'})

        with odd(again) as server:
            assert "more than 100 pages" in str(told(READS["comments"], server.forge()))
            assert len(server.asked) == 100


class TestRedirects:
    def test_a_repository_that_moved_is_told_so_and_not_followed(self) -> None:
        moved = always(301, {"message": "Moved Permanently", "url": "x"}, headers={"Location": "https://elsewhere.example/repositories/1"})
        with odd(moved) as server:
            for act in (READS["pull"], READS["comments"], MUTATIONS["comment"]):
                assert isinstance(told(act, server.forge()), Refusal)

    def test_a_mutation_s_307_is_no_success(self) -> None:
        with odd(always(307, {"message": "Moved Permanently"}, headers={"Location": "https://elsewhere.example/x"})) as server:
            for act in (MUTATIONS["label"], MUTATIONS["cancel"], MUTATIONS["dispatch"]):
                assert isinstance(told(act, server.forge()), Refusal)


class TestDownloads:
    def download(self, server: Odd, limit: int = 1000, clock: Patience | None = None) -> bytes:
        into = io.BytesIO()
        count = server.forge(clock).download(7, into, limit)
        assert count == len(into.getvalue())
        return into.getvalue()

    def test_the_token_is_not_sent_to_where_it_lies(self) -> None:
        with odd(always(200, data=b"PK..")) as store, odd(always(302, headers={"Location": f"{store.url}/blob?sig=s"})) as server:
            assert self.download(server) == b"PK.."
            assert server.asked[0].headers["authorization"] == "Bearer secret-token"
            assert [asked.path for asked in store.asked] == ["/blob?sig=s"] and "authorization" not in store.asked[0].headers

    def test_nor_to_another_path_of_the_same_host(self) -> None:
        with odd(lambda asked: Reply(data=b"PK") if asked.path == "/blob" else Reply(302, headers={"Location": "/blob"})) as server:
            assert self.download(server) == b"PK"
            assert ["authorization" in asked.headers for asked in server.asked] == [True, False]

    def test_a_try_that_broke_off_leaves_nothing_behind_and_asks_for_a_new_address(self) -> None:
        clock, blobs = Patience(), in_turn(Reply(data=b"PK-half", cut=True), Reply(503), Reply(data=b"PK-whole"))
        with odd(blobs) as store, odd(always(302, headers={"Location": f"{store.url}/blob"})) as server:
            assert self.download(server, clock=clock) == b"PK-whole"
            assert len(server.asked) == 3
        assert clock.slept == [1.0, 2.0]

    def test_more_than_the_limit_is_stopped_whether_declared_or_not(self) -> None:
        for direct in (True, False):
            with odd(always(200, data=b"x" * 1001)) as store, odd(always(302, headers={"Location": f"{store.url}/b"})) as server:
                where = store if direct else server
                assert isinstance(told(lambda forge: forge.download(7, io.BytesIO(), 1000), where.forge()), BadInput)
                assert len(self.download(where, limit=1001)) == 1001

    def test_a_bomb_in_the_transfer_is_stopped(self) -> None:
        import gzip

        bomb = always(200, data=gzip.compress(bytes(10_000_000)), headers={"Content-Encoding": "gzip"})
        with odd(bomb) as store, odd(always(302, headers={"Location": f"{store.url}/b"})) as server:
            assert isinstance(told(lambda forge: forge.download(7, io.BytesIO(), 100_000), server.forge()), BadInput)

    @pytest.mark.parametrize("location", [None, "", "file:///etc/passwd", "ftp://x/y", "javascript:1"])
    def test_a_place_that_is_none_is_refused(self, location: str | None) -> None:
        with odd(always(302, headers={} if location is None else {"Location": location})) as server:
            assert isinstance(told(READS["download"], server.forge()), (Refusal, BadInput)) and len(server.asked) == 1

    def test_a_second_redirect_is_not_followed(self) -> None:
        with odd(always(302, headers={"Location": "http://127.0.0.1:1/x"})) as store:
            with odd(always(302, headers={"Location": f"{store.url}/b"})) as server:
                assert isinstance(told(READS["download"], server.forge()), Refusal)

    @pytest.mark.parametrize("status", [404, 410])
    def test_one_that_expired_is_missing(self, status: int) -> None:
        with odd(always(status, {"message": "Artifact has expired"})) as server:
            assert isinstance(told(READS["download"], server.forge()), Missing)


class TestGraphQL:
    @pytest.mark.parametrize(("answer", "kind"), [
        ({"data": None, "errors": [{"type": "NOT_FOUND", "message": "Could not resolve"}]}, Missing),
        ({"data": {"x": None}, "errors": [{"type": "FORBIDDEN", "message": "Resource not accessible"}]}, Refusal),
        ({"data": None, "errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}, Unreachable),
        ({"data": None, "errors": [{"type": "UNPROCESSABLE", "message": "Pull request is closed"}]}, BadInput),
        ({"data": None, "errors": [{"message": "Something went wrong while executing your query."}]}, Unreachable),
        ({"errors": [{"message": "Field 'x' doesn't exist"}, {"message": "and another"}]}, Refusal),
        ({"errors": "broken"}, Refusal),
        ({"data": None}, Refusal), ({}, Refusal), ([], Refusal), (None, Refusal)])
    def test_an_error_in_a_200_is_an_error(self, answer: Any, kind: type[BumpbotError]) -> None:
        def reply(asked: Any) -> Reply:
            return Reply(value=answer) if asked.method == "POST" else Reply(value=pull_json(draft=True))

        with odd(reply) as server:
            error = told(lambda forge: forge.set_draft(1, False), server.forge())
            assert [asked.path for asked in server.asked] == [f"/repos/{REPOSITORY}/pulls/1", "/graphql"]
        assert isinstance(error, kind) and "markPullRequestReadyForReview #1" in str(error)

    def test_every_error_is_told(self) -> None:
        assert "one; two" in str(fold_graphql("x", {"errors": [{"message": "one"}, {"message": "two"}]}))


class TestTheFold:
    def test_names_a_wait_only_where_the_limit_is_spent(self) -> None:
        spent = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1000"}
        assert fold("x", 403, spent, {}, now=990.0).after_s == 10.0
        assert fold("x", 500, {"x-ratelimit-remaining": "3", "x-ratelimit-reset": "1000"}, {}, now=990.0).after_s is None
        assert fold("x", 403, {}, {"message": "You have exceeded a secondary rate limit"}, now=0.0).after_s == 60.0
