"""Upstream history from a compare API: pages, renamed repositories, histories that share nothing."""

from __future__ import annotations

import httpx
import pytest

from bot.adapters.commits import GitHubCommits
from bot.adapters.http import make_client
from bot.errors import BadInput, Missing, Refusal, Unreachable
from tests.adapters.fake_registry import FakeClock

LONG = [f"{n:040x}" for n in range(1, 251)]
BASE = "f" * 40


def commit(sha: str, title: str = "Do a thing (#12)") -> dict:
    return {"sha": sha, "commit": {"message": f"{title}\n\nmore (#99)", "author": {"date": "2026-08-01T00:00:00Z"},
                                   "committer": {"date": "2026-08-02T00:00:00Z"}}}


class Api:
    """Answers comparisons of one repository; `answers` overrides a path."""

    def __init__(self, commits: list[dict], *, behind: int = 3, answers: dict | None = None) -> None:
        self.commits, self.behind, self.answers, self.asked = commits, behind, answers or {}, []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        if request.url.path in self.answers:
            return self.answers[request.url.path]
        page, size = int(request.url.params["page"]), int(request.url.params["per_page"])
        return httpx.Response(200, json={
            "status": "diverged", "ahead_by": len(self.commits), "behind_by": self.behind, "total_commits": len(self.commits),
            "merge_base_commit": {"sha": BASE}, "commits": self.commits[(page - 1) * size:page * size],
            "html_url": "https://forge.example/o/n/compare/a...b?utm=1"})

    def port(self, **options) -> GitHubCommits:
        client = make_client(transport=httpx.MockTransport(self))
        return GitHubCommits(FakeClock(), base_url="https://api.forge.example", token="secret", client=client, **options)


class TestAComparison:
    def test_tells_distances_merge_base_and_commits_with_their_pull_requests(self):
        api = Api([commit("a" * 40), commit("b" * 40, "Without a number"), commit("c" * 40, "Revert (#3) by hand")])
        found = api.port().compare("vllm-project/vllm", "75c2eef", "main")
        assert (found.merge_base, found.ahead, found.behind) == (BASE, 3, 3)
        assert [(c.title, c.pull) for c in found.commits] == [
            ("Do a thing (#12)", 12), ("Without a number", None), ("Revert (#3) by hand", None)]
        assert found.commits[0].date == "2026-08-02T00:00:00Z"
        assert found.url == "https://forge.example/vllm-project/vllm/compare/75c2eef...main"

    def test_asks_with_the_token_for_exactly_these_two(self):
        api = Api([])
        api.port().compare("o/n", "release/v1", "main")
        assert api.asked[0].url.raw_path.startswith(b"/repos/o/n/compare/release%2Fv1...main?per_page=100&page=1")
        assert api.asked[0].headers["authorization"] == "Bearer secret"

    def test_reads_every_page_and_stops_where_it_was_told_to(self):
        api = Api([commit(sha) for sha in LONG])
        assert [c.sha for c in api.port().compare("o/n", "a", "b").commits] == LONG
        assert len(api.asked) == 3
        cut = Api([commit(sha) for sha in LONG]).port(pages=2).compare("o/n", "a", "b")
        assert (cut.ahead, len(cut.commits)) == (250, 200)

    def test_of_histories_that_share_nothing_has_no_merge_base(self):
        gone = httpx.Response(404, json={"message": "No common ancestor between a and b."})
        here = {f"/repos/o/n/commits/{ref}": httpx.Response(200, json={}) for ref in "ab"}
        found = Api([], answers={"/repos/o/n/compare/a...b": gone, **here}).port().compare("o/n", "a", "b")
        assert (found.merge_base, found.ahead, found.behind, found.commits) == (None, None, None, ())

    def test_with_a_commit_that_is_not_there_is_missing(self):
        gone = httpx.Response(404, json={})
        api = Api([], answers={"/repos/o/n/compare/a...b": gone, "/repos/o/n/commits/a": httpx.Response(200, json={}),
                               "/repos/o/n/commits/b": gone})
        with pytest.raises(Missing, match=r"o/n a\.\.\.b"):
            api.port().compare("o/n", "a", "b")


class TestRedirects:
    def test_of_a_renamed_repository_are_followed_on_the_same_host(self):
        api = Api([commit("a" * 40)], answers={"/repos/old/n/compare/a...b": httpx.Response(
            301, headers={"Location": "/repositories/7/compare/a...b?per_page=100&page=1"})})
        assert api.port().compare("old/n", "a", "b").ahead == 1

    def test_to_another_host_never_carry_the_token(self):
        api = Api([], answers={"/repos/o/n/compare/a...b": httpx.Response(301, headers={"Location": "https://evil.example/x"})})
        with pytest.raises(Refusal, match=r"evil\.example"):
            api.port().compare("o/n", "a", "b")
        assert {request.url.host for request in api.asked} == {"api.forge.example"}


class TestBadInput:
    @pytest.mark.parametrize(("repository", "base", "head"), [
        ("vllm", "a", "b"), ("a/b/c", "a", "b"), ("../x", "a", "b"), ("a/b?x=1", "a", "b"), ("a/b", "", "b"),
        ("a/b", "a..b", "b"), ("a/b", "a", "-rf"), ("a/b", "a", "b c"), ("a/b", "a", "b/"), ("a/b", "a", "b.lock"),
        ("a/b", "a", "b#c"), ("a/b", "a", "x" * 300),
    ])
    def test_of_the_question_is_refused_before_anything_is_asked(self, repository, base, head):
        api = Api([])
        with pytest.raises(BadInput):
            api.port().compare(repository, base, head)
        assert api.asked == []

    @pytest.mark.parametrize("body", [
        [], {}, {"ahead_by": -1}, {"ahead_by": True}, {"ahead_by": 1, "commits": {}},
        {"ahead_by": 1, "commits": [{"sha": "zz", "commit": {"message": "m"}}]},
        {"ahead_by": 0, "behind_by": 0, "commits": [], "merge_base_commit": {"sha": "short"}},
    ])
    def test_of_the_answer_is_told(self, body):
        with pytest.raises(BadInput, match=r"o/n a\.\.\.b"):
            Api([], answers={"/repos/o/n/compare/a...b": httpx.Response(200, json=body)}).port().compare("o/n", "a", "b")

    def test_a_spent_rate_limit_is_unreachable_and_not_refused(self):
        spent = httpx.Response(403, headers={"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9999999999"})
        with pytest.raises(Unreachable, match="rate limit"):
            Api([], answers={"/repos/o/n/compare/a...b": spent}).port().compare("o/n", "a", "b")


class Branch:
    """Answers the listing of a default branch, newest first, a hundred commits a page."""

    def __init__(self, shas: list[str]) -> None:
        self.shas, self.asked = shas, []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        if request.url.path != "/repos/o/n/commits":
            return httpx.Response(404, json={"message": "Not Found"})
        page, size = int(request.url.params["page"]), int(request.url.params["per_page"])
        shown = self.shas[(page - 1) * size:page * size]
        return httpx.Response(200, json=[{**commit(sha), "parents": [{"sha": BASE}, {"sha": "no commit"}, None]} for sha in shown])

    port = Api.port


class TestAHistory:
    def test_is_read_until_every_commit_asked_for_was_met(self):
        branch = Branch(LONG)
        found = branch.port().history("o/n", {LONG[3][:39], LONG[120]})
        assert [one.sha for one in found] == LONG[:200] and len(branch.asked) == 2
        assert found[0].parents == (BASE,)

    def test_ends_with_the_branch_or_at_the_limit(self):
        branch = Branch(LONG)
        assert len(branch.port().history("o/n", {"a" * 40})) == 250 and len(branch.asked) == 3
        branch = Branch(LONG)
        assert len(branch.port(listed=1).history("o/n", {"a" * 40})) == 100 and len(branch.asked) == 1

    def test_of_a_repository_that_is_not_there(self):
        with pytest.raises(Missing, match="the history of o/other"):
            Branch(LONG).port().history("o/other", set())

    @pytest.mark.parametrize(("repository", "until"), [("o", ()), ("o/n", ("a b",)), ("o/n", ("-x",))])
    def test_asks_for_nothing_that_is_no_name(self, repository, until):
        branch = Branch(LONG)
        with pytest.raises(BadInput):
            branch.port().history(repository, until)
        assert branch.asked == []

    @pytest.mark.parametrize("answer", [{}, [{"sha": "x"}], [3], "text"])
    def test_that_is_no_list_of_commits_is_bad_input(self, answer):
        api = Api([], answers={"/repos/o/n/commits": httpx.Response(200, json=answer)})
        with pytest.raises(BadInput):
            api.port().history("o/n", {"a" * 40})


class TestWhetherACommitIsContained:
    @pytest.mark.parametrize(("behind", "answer"), [(0, True), (3, False)])
    def test_is_whether_nothing_of_it_is_missing(self, behind, answer):
        api = Api([commit(sha) for sha in LONG], behind=behind)
        assert api.port().contains("o/n", "a" * 40, "b" * 40) is answer and len(api.asked) == 1

    def test_of_a_history_that_shares_nothing_is_no(self):
        gone = httpx.Response(404, json={"message": "Not Found"})
        here = httpx.Response(200, json={})
        api = Api([], answers={"/repos/o/n/compare/aaaaaaa...bbbbbbb": gone, "/repos/o/n/commits/aaaaaaa": here,
                               "/repos/o/n/commits/bbbbbbb": here})
        assert api.port().contains("o/n", "aaaaaaa", "bbbbbbb") is False

    def test_of_a_commit_that_is_not_there_is_missing(self):
        gone = httpx.Response(404, json={"message": "Not Found"})
        paths = ("/repos/o/n/compare/aaaaaaa...bbbbbbb", "/repos/o/n/commits/aaaaaaa")
        with pytest.raises(Missing):
            Api([], answers=dict.fromkeys(paths, gone)).port().contains("o/n", "aaaaaaa", "bbbbbbb")


class TestAServerThatDoesNotAnswer:
    def test_is_waited_for_once_and_not_at_each_question(self):
        """A plan asked dozens, and waited for more than five minutes."""
        path = "/repos/o/n/compare/aaaaaaa...bbbbbbb"
        api = Api([], answers={path: httpx.Response(503)})
        port = api.port()
        for asked in (4, 5, 6):
            with pytest.raises(Unreachable):
                port.compare("o/n", "aaaaaaa", "bbbbbbb")
            assert len(api.asked) == asked
