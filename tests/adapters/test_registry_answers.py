"""Listings, redirects and statuses: what each answer of a registry becomes."""

from __future__ import annotations

import time
from urllib.parse import parse_qs

import pytest

from bot.adapters.registry import OciRegistry, tags
from bot.errors import BadInput, BumpbotError, Missing, Refusal, Unreachable
from bot.images.reference import parse
from tests.adapters.fake_registry import INDEX, bearer, document


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
        # BR040
        registry.names = {f"v{n}": "x" for n in range(3000)}
        assert len(client(clock).tags(parse(f"{registry.netloc}/a/b"))) == 3000

    @pytest.mark.parametrize("cut", [50, 100, 200, 500, 1000])
    @pytest.mark.parametrize("heeds_last", [True, False])
    def test_of_a_registry_that_cuts_its_pages_and_sends_no_link_are_whole(self, registry, clock, cut, heeds_last):
        # BR040: a server takes no `n`, cuts where it likes and says nothing of it; another just has as many tags.
        everything = [f"v{number:04}" for number in range(2 * cut + 7 if heeds_last else cut)]

        def before(asked):
            last = parse_qs(asked.query).get("last", [""])[0] if heeds_last else ""
            return 200, {}, document({"tags": [tag for tag in everything if tag > last][:cut]})

        registry.before = before
        assert client(clock).tags(parse(f"{registry.netloc}/a/b")) == tuple(everything)
        assert len(registry.asked) == (3 if heeds_last else 2)

    @pytest.mark.parametrize("second", [(404, {}, b"{}"), (500, {}, b""), (200, {}, b'{"tags": ["v2"'), (200, {}, b"{}")])
    def test_of_which_a_page_is_missing_are_an_error_and_no_part(self, registry, clock, second):
        # BR039: of a listing that was read in part an old version was reported as the latest.
        registry.before = lambda asked: second if "last" in asked.query else (
            200, {"Link": '</v2/a/b/tags/list?last=v1>; rel="next"'}, document({"tags": ["v1"]}))
        with pytest.raises(BumpbotError):
            client(clock).tags(parse(f"{registry.netloc}/a/b"))

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

    @pytest.mark.parametrize(("link", "kind", "said"), [
        ("<file:///etc/passwd>; rel=next", Refusal, "pages its tags on file"),
        ("<http://169.254.169.254/x>; rel=next", Refusal, "pages its tags on 169.254.169.254"),
        ("<http://one:else@{netloc}/v2/a/b/tags/list?last=v1>; rel=next", BadInput, "a login in it"),
        ("<http://xn--/x>; rel=next", BadInput, "no address"), ("<http://[::1/x>; rel=next", BadInput, "no address"),
        ('<>; rel="next"', BadInput, "does not end after 1 pages"),
        ("</v2/a/b/tags/list?last=" + "x" * 9000 + '>; rel="next"', BadInput, "cannot be read"),
        ("/v2/a/b/tags/list?last=v1; rel=next", BadInput, "cannot be read"),
        ("<a>;" * 15_000, BadInput, "cannot be read"), ("<" * 60_000, BadInput, "cannot be read"),
    ])
    def test_a_link_that_cannot_be_followed_is_an_error_and_no_end(self, registry, clock, link, kind, said):
        registry.before = lambda asked: (200, {"Link": link.format(netloc=registry.netloc)}, b'{"tags": ["v1"]}')
        config = {"auths": {registry.netloc: {"username": "bot", "password": "secret"}}}
        began = time.monotonic()
        with pytest.raises(kind, match=said):
            client(clock, credentials=config).tags(parse(f"{registry.netloc}/a/b"))
        assert time.monotonic() - began < 5 and [asked.login for asked in registry.asked] == [None]

    @pytest.mark.parametrize("link", ['</v2/a/b/tags/list?page=1>; rel="prev next"', "<https://x/>; rel=prev, </v2/a/b/tags/list?page=1>; Rel=NEXT",
                                      '</v2/a/b/tags/list?page=1>; title="a, b"; rel="next"'])
    def test_a_link_is_read_in_all_its_spellings(self, registry, clock, link):
        self.pages(registry, 1, lambda n: link)
        registry.names = {"v9": "x"}
        assert client(clock).tags(parse(f"{registry.netloc}/a/b")) == ("v0", "v9")

    @pytest.mark.parametrize("link", ["<https://x/next>; rel=prev", '<https://x/?next=1>; rel="first"', "<https://x/>; rel=canonical"])
    def test_a_link_to_something_else_is_the_end(self, registry, clock, link):
        registry.before = lambda asked: (200, {"Link": link}, b'{"tags": ["v1"]}')
        assert client(clock).tags(parse(f"{registry.netloc}/a/b")) == ("v1",)

    def test_names_that_no_tag_can_have_are_left_out(self, registry, clock):
        odd = ["v1\n", "\x1b[31mv1", "v\u202e1", "x" * 2_000_000, "../v1", "", "v 1", None, 7, ["v2"], "x" * 129]
        registry.before = lambda asked: (200, {}, document({"tags": [*odd, "v1", "v1", "x" * 128]}))
        assert client(clock).tags(parse(f"{registry.netloc}/a/b")) == ("v1", "x" * 128)

    @pytest.mark.parametrize(("page", "pages"), [(lambda n: [f"v{n}-{i}" for i in range(100)], 3), (lambda n: ["x" * 7_000], 4)])
    def test_pages_that_grow_beyond_belief_are_not_read_on(self, registry, clock, monkeypatch, page, pages):
        monkeypatch.setattr(tags, "MAX_TAGS", 200)
        monkeypatch.setattr(tags, "MAX_LISTING_BYTES", 24_000)
        registry.before = lambda asked: (200, {"Link": f"</v2/a/b/tags/list?page={len(registry.asked)}>; rel=next"},
                                         document({"tags": page(len(registry.asked))}))
        with pytest.raises(BadInput, match="not believed"):
            client(clock).tags(parse(f"{registry.netloc}/a/b"))
        assert len(registry.asked) == pages

    @pytest.mark.parametrize("body", [b"[]", b'{"tags": {}}', b'{"tags": "v1"}', b"{}", b'{"errors": [{"code": "DENIED"}]}'])
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

    @pytest.mark.parametrize("target", ["http://one:else@{other}/x", "http://xn--/x"])
    def test_to_what_names_a_login_or_nothing_are_not_followed(self, registry, other, clock, target):
        registry.index("v1")
        self.redirect(registry, lambda asked: target.format(other=other.netloc))
        with pytest.raises(BadInput, match="address"):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))
        assert other.asked == []

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

    @pytest.mark.parametrize("status", [203, 206, 226])
    def test_an_answer_that_says_it_is_a_part_is_none(self, registry, clock, status):
        registry.before = lambda asked: (status, {"Content-Type": INDEX}, b'{"tags": ["v1"]}')
        for question in ("tags", "resolve", "digest"):
            with pytest.raises(BadInput, match=f"not whole \\({status}\\)"):
                getattr(client(clock), question)(parse(f"{registry.netloc}/a/b:v1"))

    @pytest.mark.parametrize(("headers", "waited"), [
        ({"Retry-After": "31536000"}, []), ({"Retry-After": "9" * 4000}, []), ({"Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT"}, []),
        ({"Retry-After": "Thu, 10 Sep 2026 00:00:20 GMT"}, [20.0, 0.0, 0.0]), ({"Retry-After": "Wed, 21 Oct 1999 07:28:00 GMT"}, [0.0] * 3),
        ({"Retry-After": "-5"}, [1.0, 2.0, 4.0]), ({"Retry-After": "nan"}, [1.0, 2.0, 4.0]), ({"Retry-After": "soon"}, [1.0, 2.0, 4.0]),
        ({"Retry-After": "Wed, 21 Oct 9999999 07:28:00 GMT"}, [1.0, 2.0, 4.0]), ({"ratelimit-remaining": "0;w=-5"}, [1.0, 2.0, 4.0]),
        ({"ratelimit-remaining": "0;w=" + "9" * 4000}, [1.0, 2.0, 4.0]), ({"ratelimit-reset": "soon"}, [1.0, 2.0, 4.0]),
    ])
    def test_a_wait_that_is_asked_for_is_kept_where_it_is_one_and_short(self, registry, clock, headers, waited):
        registry.before = lambda asked: (429, headers, b"")
        with pytest.raises(Unreachable, match="rate limit"):
            client(clock).tags(parse(f"{registry.netloc}/a/b:v1"))
        assert clock.waits == [seconds for seconds in waited if seconds]

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
