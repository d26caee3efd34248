"""Listings, redirects and statuses: what each answer of a registry becomes."""

from __future__ import annotations

import pytest

from bot.adapters.registry import OciRegistry
from bot.errors import BadInput, Missing, Refusal, Unreachable
from bot.images.reference import parse
from tests.adapters.fake_registry import bearer, document


def client(clock, **options) -> OciRegistry:
    return OciRegistry(clock, **options)


class TestTagLists:
    def pages(self, registry, count: int, link) -> None:
        registry.before = lambda asked: (200, {"Link": link(int(asked.query.partition("page=")[2] or "0") + 1)}, document(
            {"tags": [f"v{asked.query.partition('page=')[2] or 0}"]})) if (
            asked.query.partition("page=")[2] or "0") != str(count) else None

    def test_are_read_page_by_page(self, registry, clock):
        self.pages(registry, 3, lambda n: f'</v2/a/b/tags/list?page={n}>; rel="next"')
        registry.names = {"v9": "x", "-bad": "x", "two words": "x"}
        assert client(clock).tags(parse(f"{registry.netloc}/a/b")) == ("v0", "v1", "v2", "v9")

    def test_a_whole_list_without_link_is_taken_as_it_is(self, registry, clock):
        registry.names = {f"v{n}": "x" for n in range(3000)}
        assert len(client(clock).tags(parse(f"{registry.netloc}/a/b"))) == 3000

    def test_a_repository_without_tags_has_none(self, registry, clock):
        registry.before = lambda asked: (200, {}, b'{"name": "a/b", "tags": null}')
        assert client(clock).tags(parse(f"{registry.netloc}/a/b")) == ()

    def test_a_loop_and_an_endless_listing_are_errors_and_no_partial_lists(self, registry, clock):
        registry.before = lambda asked: (200, {"Link": '</v2/a/b/tags/list?n=1000>; rel="next"'}, document({"tags": ["v1"]}))
        with pytest.raises(BadInput, match="does not end after 1 pages"):
            client(clock).tags(parse(f"{registry.netloc}/a/b"))
        self.pages(registry, 10**9, lambda n: f"</v2/a/b/tags/list?page={n}>; rel=next")
        with pytest.raises(BadInput, match="does not end after 200 pages"):
            client(clock).tags(parse(f"{registry.netloc}/a/b"))

    def test_a_link_to_another_host_is_refused(self, registry, other, clock):
        for target in (f"{other.url}/v2/a/b/tags/list?last=x", "//evil.example/x", registry.url.replace("http", "https")):
            registry.before = lambda asked, target=target: (200, {"Link": f'<{target}>; rel="next"'}, b'{"tags": []}')
            with pytest.raises(Refusal, match="another host"):
                client(clock).tags(parse(f"{registry.netloc}/a/b"))
        assert other.asked == []

    @pytest.mark.parametrize("body", [b"[]", b'{"tags": {}}', b'{"tags": "v1"}'])
    def test_another_shape_is_bad_input(self, registry, clock, body):
        registry.before = lambda asked: (200, {}, body)
        with pytest.raises(BadInput, match="not a tag list"):
            client(clock).tags(parse(f"{registry.netloc}/a/b"))


class TestRedirects:
    def redirect(self, registry, target):
        registry.before = lambda asked: (307, {"Location": target(asked)}, b"") if "/blobs/" in asked.path else None

    def test_are_followed_without_credentials(self, registry, other, clock):
        registry.index("v1")
        bearer(registry)
        inner = registry.before
        registry.before = lambda asked: inner(asked) or ((307, {"Location": f"{other.url}{asked.path}?sig=1"}, b"")
                                                         if "/blobs/" in asked.path else None)
        other.blobs = registry.blobs
        assert client(clock).resolve(parse(f"{registry.netloc}/a/b:v1")).facts.cuda == "13.0.1"
        assert [asked.login for asked in other.asked] == [None]
        assert any(asked.login for asked in registry.asked)

    @pytest.mark.parametrize(("target", "said"), [
        ("http://10.1.2.3/x", "plain HTTP"), ("https://10.1.2.3/x", "10.1.2.3"), ("https://169.254.169.254/x", "169.254.169.254"),
        ("https://[fe80::1]/x", "fe80::1"), ("ftp://127.0.0.1/x", "ftp"), ("https://inside.example/x", "192.168.0.9"),
        ("https://[::ffff:10.0.0.1]/x", "10.0.0.1"), ("https://2130706433/x", "127.0.0.1"),
    ])
    def test_to_where_nobody_should_look_are_refused(self, registry, clock, target, said):
        registry.index("v1")
        self.redirect(registry, lambda asked: target)
        known = {"inside.example": "192.168.0.9", "2130706433": "127.0.0.1"}
        port = client(clock, resolve=lambda host, _: [known.get(host, host.strip("[]"))])
        with pytest.raises(Refusal, match=said.replace(".", r"\.")):
            port.resolve(parse(f"{registry.netloc}/a/b:v1"))

    def test_in_a_circle_end(self, registry, clock):
        registry.index("v1")
        self.redirect(registry, lambda asked: asked.path)
        with pytest.raises(Refusal, match="redirected"):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))
        assert len(registry.asked) < 12

    def test_that_ask_for_a_login_get_none(self, registry, other, clock):
        registry.index("v1")
        self.redirect(registry, lambda asked: f"{other.url}/x")
        other.before = lambda asked: (401, {"WWW-Authenticate": 'Basic realm="r"'}, b"")
        config = {"auths": {name: {"username": "bot", "password": "secret"} for name in (registry.netloc, other.netloc)}}
        with pytest.raises(Refusal, match="asks for a login"):
            client(clock, credentials=config).resolve(parse(f"{registry.netloc}/a/b:v1"))
        assert [asked.login for asked in other.asked] == [None]


class TestAnswersToldApart:
    @pytest.mark.parametrize(("status", "kind", "said"), [
        (404, Missing, "not there"), (403, Refusal, "refused"), (400, Refusal, "refused"), (500, Unreachable, "server error"),
        (503, Unreachable, "server error"), (429, Unreachable, "rate limit"), (401, Refusal, "no way to log in"),
    ])
    def test_by_status(self, registry, clock, status, kind, said):
        registry.before = lambda asked: (status, {}, b"")
        with pytest.raises(kind, match=said):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))

    def test_a_server_that_recovers_is_waited_for_on_the_clock(self, registry, clock):
        registry.index("v1")
        replies = iter([(503, {}, b""), (429, {"Retry-After": "7"}, b""), None])
        registry.before = lambda asked: next(replies, None)
        assert client(clock).resolve(parse(f"{registry.netloc}/a/b:v1")).kind == "index"
        assert clock.waits == [1.0, 7.0]

    def test_a_server_that_asks_for_an_hour_is_not(self, registry, clock):
        registry.before = lambda asked: (429, {"Retry-After": "3600"}, b"")
        with pytest.raises(Unreachable, match="rate limit"):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))
        assert clock.waits == [] and len(registry.asked) == 1

    def test_nobody_at_home_is_unreachable(self, clock):
        with pytest.raises(Unreachable):
            client(clock).resolve(parse("127.0.0.1:1/a/b:v1"))

    def test_a_name_that_leads_inside_is_refused_before_anything_is_sent(self, clock):
        port = client(clock, resolve=lambda host, _: ["203.0.113.9", "127.0.0.1"])
        with pytest.raises(Refusal, match="is not asked|is at"):
            port.resolve(parse("registry.example/a/b:v1"))

    def test_localhost_that_is_somewhere_else_is_refused(self, clock):
        port = client(clock, resolve=lambda host, _: ["192.0.2.1"])
        with pytest.raises(Refusal, match="192.0.2.1"):
            port.resolve(parse("localhost:5000/a/b:v1"))
