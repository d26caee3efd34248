"""The same stories of the registry client over every kind of registry, Debian's docker-registry and our own among them.

What a story expects is computed from the description that was pushed, never read back from the client.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.errors import Missing, Refusal
from bot.images.reference import parse
from bot.rehearse.registry import build
from tests.adapters.fake_registry import FakeClock
from tests.adapters.kinds import Kind, described, of, reader
from tests.adapters.pager import FORMS, Form, Pager
from tests.adapters.registries import PASSWORD, USER
from tests.adapters.token_issuer import PRIVATE

COMMIT = "7b9c1f0e5d4a3b2c1d0e9f8a7b6c5d4e3f2a1b0c"
ABSENT = "sha256:" + "0" * 64
FACTS = {"CUDA_VERSION": "13.0.1", "TORCH_CUDA_ARCH_LIST": "9.0 10.0a"}


def refused(kind: Kind) -> list[int]:
    """Every refusal that a registry has answered with so far."""
    return [asked.status for asked in kind.asked if asked.status in (401, 403)]


class TestAnImage:
    def test_has_the_digest_of_what_was_pushed_by_head_and_by_get(self, kind: Kind) -> None:
        pushed = kind.push("image/digest", "v1", described())
        wanted = parse(f"{kind.netloc}/image/digest:v1")
        assert reader(kind).digest(wanted) == reader(kind).resolve(wanted).digest == pushed

    def test_tells_its_digest_without_a_body(self, kind: Kind) -> None:
        kind.push("image/head", "v1", described())
        port, wanted = reader(kind), parse(f"{kind.netloc}/image/head:v1")
        port.digest(wanted)
        before = len(kind.asked)
        port.digest(wanted)
        if not isinstance(kind, Pager):  # it hands a HEAD on as a GET, for the length of the answer
            assert {(asked.method, asked.path) for asked in kind.asked[before:]} == {("HEAD", "/v2/image/head/manifests/v1")}

    def test_of_many_platforms_lists_them_as_its_index_does(self, kind: Kind) -> None:
        image = described(platforms=("linux/arm64", "linux/amd64", "windows/amd64"))
        kind.push("image/index", "v1", image)
        found = reader(kind).resolve(parse(f"{kind.netloc}/image/index:v1"))
        assert found.kind == "index"
        assert [f"{platform.os}/{platform.architecture}" for platform in found.platforms] == list(image.platforms)
        assert [(platform.digest, platform.size) for platform in found.platforms] == [
            (made.digest, len(made.body)) for made in build(image).manifests]

    def test_of_one_platform_tells_it_from_its_config(self, kind: Kind) -> None:
        pushed = kind.push("image/single", "v1", described(kind="manifest", platforms=("linux/arm64",)))
        found = reader(kind).resolve(parse(f"{kind.netloc}/image/single:v1"))
        assert (found.kind, found.digest) == ("manifest", pushed)
        assert [(platform.architecture, platform.digest) for platform in found.platforms] == [("arm64", pushed)]

    @pytest.mark.parametrize("shape", ["index", "manifest"])
    def test_tells_when_and_from_what_it_was_made(self, kind: Kind, shape: str) -> None:
        image = described(day=7, kind=shape, env=FACTS, labels={"org.opencontainers.image.revision": COMMIT, "of": "tests"})
        kind.push(f"image/facts-{shape}", "v1", image)
        found = reader(kind).resolve(parse(f"{kind.netloc}/image/facts-{shape}:v1"))
        assert (found.created, found.labels["of"], found.provenance) == (image.created, "tests", "label")
        assert (found.facts.cuda, found.facts.arch_list, found.facts.rocm, found.facts.commit) == (
            "13.0.1", "9.0 10.0a", None, COMMIT)

    def test_is_found_by_its_digest_whole_or_one_platform_of_it(self, kind: Kind) -> None:
        image = described()
        pushed = kind.push("image/pinned", "v1", image)
        port, arm = reader(kind), build(image).manifests[1].digest
        whole = port.resolve(parse(f"{kind.netloc}/image/pinned:v1@{pushed}"))
        part = port.resolve(parse(f"{kind.netloc}/image/pinned@{arm}"))
        assert (whole.kind, whole.digest) == ("index", pushed)
        assert (part.kind, part.digest, part.platforms[0].architecture) == ("manifest", arm, "arm64")


class TestWhatIsNotThere:
    @pytest.mark.parametrize("rest", ["absent/known:v2", f"absent/known@{ABSENT}", "absent/unknown:v1", "absent/unknown"])
    def test_is_missing_and_no_outage(self, kind: Kind, rest: str) -> None:
        kind.push("absent/known", "v1", described())
        for ask in (reader(kind).resolve, reader(kind).digest):
            with pytest.raises(Missing, match="absent/"):
                ask(parse(f"{kind.netloc}/{rest}"))

    def test_has_no_tags(self, kind: Kind) -> None:
        with pytest.raises(Missing, match="absent/none"):
            reader(kind).tags(parse(f"{kind.netloc}/absent/none"))


class TestATagPushedAgain:
    def test_has_another_digest_and_what_it_was_stays_under_its_own(self, kind: Kind) -> None:
        port, tag = reader(kind), parse(f"{kind.netloc}/again/image:nightly")
        first = kind.push("again/image", "nightly", described(day=1))
        assert port.digest(tag) == first
        second = kind.push("again/image", "nightly", described(day=2))
        assert port.digest(tag) == port.resolve(tag).digest == second != first
        assert port.resolve(parse(f"{kind.netloc}/again/image@{first}")).created == described(day=1).created

    def test_is_not_what_a_pin_beside_it_says(self, kind: Kind) -> None:
        first = kind.push("again/pinned", "nightly", described(day=1))
        second = kind.push("again/pinned", "nightly", described(day=2))
        assert reader(kind).digest(parse(f"{kind.netloc}/again/pinned:nightly@{first}")) == first != second


class TestAListing:
    def test_holds_every_tag_once(self, kind: Kind) -> None:
        names = [f"v0.5.{number}-cu{cuda}" for number in range(6) for cuda in (129, 130)]
        for name in names:
            kind.push("listing/whole", name, described(kind="manifest", platforms=("linux/amd64",)))
        assert sorted(reader(kind).tags(parse(f"{kind.netloc}/listing/whole:v0.5.0-cu129"))) == sorted(names)

    @pytest.mark.parametrize("kind", of("paged"), indirect=True)
    @pytest.mark.parametrize("form", FORMS)
    def test_of_a_registry_that_pages_is_followed_to_its_end(self, kind: Pager, form: Form) -> None:
        # BR039
        names = [f"v{number}" for number in range(1, 10)]
        for name in names:
            kind.push("listing/paged", name, described(kind="manifest", platforms=("linux/amd64",)))
        kind.form, before = form, kind.pages
        assert list(reader(kind).tags(parse(f"{kind.netloc}/listing/paged"))) == names
        assert kind.pages - before == 3

    @pytest.mark.parametrize("kind", of("loopback"), indirect=True)
    def test_longer_than_the_longest_page_goes_on(self, kind: Kind) -> None:
        names = [f"v{number:04}" for number in range(1001)]
        for name in names:
            kind.push("listing/long", name, described(kind="manifest", platforms=("linux/amd64",)))
        assert list(reader(kind).tags(parse(f"{kind.netloc}/listing/long"))) == names
        assert sum(asked.path == "/v2/listing/long/tags/list" and asked.status == 200 for asked in kind.asked) == 2


class TestWhoAsks:
    def test_is_told_as_the_registry_took_it(self, kind: Kind) -> None:
        kind.push("who/told", "v1", described())
        found = reader(kind).resolve(parse(f"{kind.netloc}/who/told:v1"))
        assert found.identity == ("anonymous" if kind.opens == "anyone" else USER)

    @pytest.mark.parametrize("kind", of("loopback", "plain", "token", "paged"), indirect=True)
    def test_needs_no_login_where_anyone_may_read(self, kind: Kind) -> None:
        pushed = kind.push("who/anyone", "v1", described())
        found = reader(kind, user="", password="").resolve(parse(f"{kind.netloc}/who/anyone:v1"))
        assert (found.digest, found.identity) == (pushed, "anonymous")

    @pytest.mark.parametrize("kind", of("loopback", "token"), indirect=True)
    def test_with_a_login_that_went_bad_is_nobody_in_particular(self, kind: Kind) -> None:
        pushed = kind.push("who/bad", "v1", described())
        found = reader(kind, password="changed since").resolve(parse(f"{kind.netloc}/who/bad:v1"))
        assert (found.digest, found.identity) == (pushed, "anonymous")

    @pytest.mark.parametrize("kind", of("loopback", "token"), indirect=True)
    def test_reads_what_is_private_with_a_login(self, kind: Kind) -> None:
        pushed = kind.push(f"{PRIVATE}image", "v1", described())
        found = reader(kind).resolve(parse(f"{kind.netloc}/{PRIVATE}image:v1"))
        assert (found.digest, found.identity) == (pushed, USER)

    @pytest.mark.parametrize("kind", of("loopback", "htpasswd", "token"), indirect=True)
    @pytest.mark.parametrize(("user", "password"), [("", ""), (USER, "wrong"), ("stranger", PASSWORD)])
    def test_without_the_right_login_is_refused_by_name(self, kind: Kind, user: str, password: str) -> None:
        kind.push(f"{PRIVATE}shut", "v1", described())
        took = user if user and kind.opens == "login" else "anonymous"
        for question in ("resolve", "digest", "tags"):
            with pytest.raises(Refusal, match=rf"\b{took}\b.*repository:{PRIVATE}shut:pull") as told:
                getattr(reader(kind, user=user, password=password), question)(parse(f"{kind.netloc}/{PRIVATE}shut:v1"))
            assert "docker login" in told.value.hint and "wrong" not in str(told.value)


@pytest.mark.parametrize("kind", of("loopback", "token"), indirect=True)
class TestATokenThatRunsOut:
    def test_is_asked_for_again_before_the_registry_must_refuse_it(self, kind: Kind) -> None:
        kind.push("token/clock", "v1", described())
        clock, wanted = FakeClock(), parse(f"{kind.netloc}/token/clock:v1")
        port = reader(kind, clock=clock)
        port.digest(wanted)
        given = kind.tokens
        port.digest(wanted)
        assert kind.tokens == given  # one a scope, while it lasts
        clock.moment += timedelta(seconds=301)
        assert port.digest(wanted) == build(described()).top.digest
        assert kind.tokens == given + 1

    def test_is_asked_for_again_when_the_registry_refuses_it(self, kind: Kind) -> None:
        kind.push("token/refused", "v1", described())
        clock, wanted = FakeClock(), parse(f"{kind.netloc}/token/refused:v1")
        port = reader(kind, clock=clock)
        port.digest(wanted)
        kind.spoil_tokens(clock)
        given, shut = kind.tokens, len(refused(kind))
        assert port.resolve(wanted).identity == USER
        assert (kind.tokens > given, len(refused(kind)) > shut) == (True, True)
