"""Many questions at a time: each asked once, each with an answer or an error of its own, tokens shared."""

from __future__ import annotations

import re
import time

import pytest

from bot.adapters.registry import OciRegistry
from bot.errors import BadInput, BumpbotError, Missing, Refusal, Unreachable
from bot.images.reference import parse
from tests.adapters.fake_registry import INDEX, FakeClock, bearer, document


def port(**options) -> OciRegistry:
    return OciRegistry(FakeClock(), **options)


class TestWhatTagsHold:
    def test_is_told_by_one_get_an_image_with_the_platforms_of_its_index(self, registry):
        # BR005: digest, platforms and sizes in one question
        digest = registry.index("v1")
        names = [f"{registry.netloc}/a/b{number}:v1" for number in range(30)]
        found = port().held([parse(name) for name in names])
        assert [(found[name].digest, found[name].kind, found[name].identity) for name in names] == [(digest, "index", "anonymous")] * 30
        assert [p.architecture for p in found[names[0]].platforms] == ["amd64", "arm64"]
        assert sorted(map(str, registry.asked)) == sorted(f"GET /v2/a/b{number}/manifests/v1" for number in range(30))

    def test_leaves_the_platform_of_a_single_manifest_unknown(self, registry):
        registry.names["v1"] = registry.image("arm64")
        reference = parse(f"{registry.netloc}/a/b:v1")
        held = port().held([reference])[reference.text]
        assert (held.digest, held.kind, held.platforms) == (registry.names["v1"], "manifest", None)

    def test_is_asked_once_for_two_spellings_of_an_image(self, registry):
        registry.index("v1")
        docker, enroot = f"{registry.netloc}/a/b:v1", f"{registry.netloc}#a/b:v1"
        found = port().held([parse(docker), parse(enroot), parse(docker)])
        assert found[docker] == found[enroot] and len(registry.asked) == 1

    def test_is_an_error_of_its_own_where_it_is_not_there(self, registry):
        # BR013
        registry.index("v1")
        names = [f"{registry.netloc}/a/b:v1", f"{registry.netloc}/a/b:v2", "127.0.0.1:1/a/b:v1"]
        found = port().held([parse(name) for name in names])
        assert found[names[0]].kind == "index"
        assert isinstance(found[names[1]], Missing) and isinstance(found[names[2]], Unreachable)

    def test_of_nothing_is_nothing(self):
        assert port().held([]) == {} and port().listings([]) == {}


class TestListings:
    def test_are_asked_once_a_repository_however_many_references_name_it(self, registry):
        # BR050
        registry.names = {"v1": "x", "v2": "x"}
        references = [parse(f"{registry.netloc}/a/b:{tag}") for tag in ("v1", "v2", "v3")] + [parse("127.0.0.1:1/a/b")]
        found = port().listings(references)
        assert found[f"{registry.netloc}/a/b"] == ("v1", "v2")
        assert isinstance(found["127.0.0.1:1/a/b"], Unreachable) and len(registry.asked) == 1


class TestTokens:
    def challenged(self, registry) -> int:
        return sum(asked.path != "/token" and asked.login is None for asked in registry.asked)

    def tokens(self, registry) -> list[str]:
        return [asked.query for asked in registry.asked if asked.path == "/token"]

    def test_are_asked_for_once_a_scope_by_all_that_want_one(self, registry):
        bearer(registry)
        names = [f"{registry.netloc}/a/b:v{number}" for number in range(20)]
        registry.index("v1")
        registry.names.update({f"v{number}": registry.names["v1"] for number in range(20)})
        found = port().held([parse(name) for name in names])
        assert {held.kind for held in found.values()} == {"index"} and len(self.tokens(registry)) == 1

    def test_are_won_before_the_request_once_the_way_is_known(self, registry):
        bearer(registry)
        registry.index("v1")
        client, references = port(), [parse(f"{registry.netloc}/a/b{number}:v1") for number in range(60)]
        assert {held.kind for held in client.held(references).values()} == {"index"}
        assert len(set(self.tokens(registry))) == len(self.tokens(registry)) == 60
        assert self.challenged(registry) <= 10
        registry.asked.clear()
        client.listings(references)
        assert len(registry.asked) == 60 and self.challenged(registry) == 0

    def test_that_are_not_given_are_not_asked_for_again(self, registry):
        bearer(registry, tokens={})
        names = [f"{registry.netloc}/a/b:v{number}" for number in range(20)]
        found = port().held([parse(name) for name in names])
        assert all(isinstance(error, Refusal) and "access refused" in str(error) for error in found.values())
        assert len(self.tokens(registry)) == 1

    def test_of_one_scope_do_not_wait_for_those_of_another(self, registry):
        bearer(registry)
        registry.index("v1")
        inner = registry.before
        registry.before = lambda asked: (401, {}, b"") if "scope=repository%3Aa%2Fbad" in asked.query else inner(asked)
        good, bad = f"{registry.netloc}/a/good:v1", f"{registry.netloc}/a/bad:v1"
        found = port().held([parse(bad), parse(good)])
        assert isinstance(found[bad], Refusal) and found[good].kind == "index"


def slow(asked):
    return (200, {"Content-Length": "100"}, b"{") if asked.path != "/token" else None


def endless(asked):
    page = int(asked.query.rpartition("=")[2] or 0) + 1 if asked.path.endswith("/list") else 0
    return (200, {"Link": f'</v2/a/b/tags/list?page={page}>; rel="next"'}, document({"tags": [f"v{page}"]})) if page else None


def huge(asked):
    return 200, {"Content-Type": INDEX}, b'{"x": "' + b"y" * 10_000_000 + b'"}'


def bomb(asked):
    return 200, {"Content-Type": INDEX}, b"[" * 1_000_000


def lying(asked):
    return 200, {"Content-Type": INDEX, "Docker-Content-Digest": "sha256:" + "1" * 64}, document({"mediaType": INDEX, "manifests": []})


def short(asked):
    return 200, {"Content-Type": INDEX, "Content-Length": "40"}, document({"mediaType": INDEX, "manifests": []})


def circle(asked):
    return 307, {"Location": asked.path}, b""


class TestARegistryThatFails:
    """Its own references get a clear error in time; those of the others their answers."""

    @pytest.mark.parametrize(("manner", "question", "kind", "said"), [
        (slow, "listings", Unreachable, "too slowly"), (slow, "held", Unreachable, "too slowly"),
        (endless, "listings", BadInput, "does not end after 200 pages"),
        (huge, "listings", BadInput, "an answer of 10000009 bytes"), (huge, "held", BadInput, "an answer of 10000009 bytes"),
        (bomb, "listings", BadInput, "nested too deeply"), (bomb, "held", BadInput, "nested too deeply"),
        (lying, "held", BadInput, "has another digest"), (short, "held", (BadInput, Unreachable), "."),
        (circle, "held", Refusal, "redirected"),
    ])
    def test_fails_for_itself_alone(self, registry, other, manner, question, kind, said):
        registry.index("v1")
        other.before = manner
        good = [parse(f"{registry.netloc}/a/b{number}:v1") for number in range(5)]
        bad = [parse(f"{other.netloc}/a/b{number}:v1") for number in range(3)]
        began = time.monotonic()
        found = getattr(port(total_s=0.3 if manner is slow else 30), question)([*bad, *good])
        assert time.monotonic() - began < 20
        key = {"listings": lambda each: each.name, "held": lambda each: each.text}[question]
        assert not any(isinstance(found[key(each)], BumpbotError) for each in good)
        assert all(isinstance(found[key(each)], kind) for each in bad)
        assert re.search(said, str(found[key(bad[0])]))

    def test_again_and_again_is_asked_no_further(self, registry):
        registry.before = lambda asked: (502, {}, b"")
        references = [parse(f"{registry.netloc}/a/b{number}:v1") for number in range(100)]
        found = port().held(references)
        assert all(isinstance(error, Unreachable) for error in found.values())
        assert len(registry.asked) <= 4 * 13 and "asked no further" in str(found[references[-1].text])

    def test_is_asked_again_by_the_next_question(self, registry):
        registry.index("v1")
        registry.before = lambda asked: (502, {}, b"")
        client, references = port(), [parse(f"{registry.netloc}/a/b{number}:v1") for number in range(10)]
        client.held(references)
        registry.before = None
        assert {held.kind for held in client.held(references).values()} == {"index"}

    def test_with_some_of_its_images_still_serves_the_others(self, registry):
        registry.index("v1")
        registry.before = lambda asked: (500, {}, b"") if "/a/b3/" in asked.path else None
        references = [parse(f"{registry.netloc}/a/b{number}:v1") for number in range(40)]
        found = port().held(references)
        assert [each.text for each in references if isinstance(found[each.text], BumpbotError)] == [f"{registry.netloc}/a/b3:v1"]
