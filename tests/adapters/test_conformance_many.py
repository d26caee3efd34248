"""The two questions about many images at once, over every kind of registry: each asked once, none lost for another's sake."""

from __future__ import annotations

import pytest

from bot.errors import Missing, Refusal, Unreachable
from bot.images.reference import parse
from bot.model.image import Held
from bot.rehearse.registry import build
from tests.adapters.kinds import Kind, described, of, reader
from tests.adapters.registries import USER
from tests.adapters.token_issuer import PRIVATE

NOBODY_THERE = "127.0.0.1:9"  # the discard port, where nothing listens
ABSENT = "sha256:" + "0" * 64


def answered(kind: Kind, word: str) -> int:
    """How many requests whose path holds a word a registry has answered, refusals and pushes aside."""
    return sum(word in asked.path and asked.method in ("GET", "HEAD") and asked.status not in (401, 403) for asked in kind.asked)


class TestListings:
    def test_hold_the_tags_of_each_repository_by_its_name(self, kind: Kind) -> None:
        for number in range(3):
            for tag in range(number + 1):
                kind.push(f"many/tags-{number}", f"v{tag}", described())
        names = [f"{kind.netloc}/many/tags-{number}" for number in range(3)]
        found = reader(kind).listings([parse(f"{name}:v0") for name in names])
        assert {name: sorted(tags) for name, tags in found.items()} == {
            names[0]: ["v0"], names[1]: ["v0", "v1"], names[2]: ["v0", "v1", "v2"]}

    def test_ask_a_repository_once_however_many_recipes_name_it(self, kind: Kind) -> None:
        kind.push("many/shared", "v1", described())
        references = [parse(f"{kind.netloc}/many/shared:{tag}") for tag in ("v1", "v2", "v1")]
        assert list(reader(kind).listings(references)) == [f"{kind.netloc}/many/shared"]
        assert answered(kind, "many/shared/tags/list") == 1

    def test_tell_what_is_wrong_with_one_and_the_tags_of_the_others(self, kind: Kind) -> None:
        kind.push("many/good", "v1", described())
        names = {"good": f"{kind.netloc}/many/good", "gone": f"{kind.netloc}/many/gone", "dead": f"{NOBODY_THERE}/many/dead"}
        found = reader(kind).listings([parse(name) for name in names.values()])
        assert list(found[names["good"]]) == ["v1"]
        assert isinstance(found[names["gone"]], Missing) and "many/gone" in str(found[names["gone"]])
        assert isinstance(found[names["dead"]], Unreachable) and NOBODY_THERE in str(found[names["dead"]])

    def test_of_nothing_are_nothing(self, kind: Kind) -> None:
        before = len(kind.asked)
        assert (dict(reader(kind).listings([])), dict(reader(kind).held([])), len(kind.asked)) == ({}, {}, before)


class TestWhatIsHeld:
    def test_is_told_by_the_text_that_asked_with_digest_kind_and_platforms(self, kind: Kind) -> None:
        index, single = described(), described(kind="manifest", platforms=("linux/arm64",))
        kind.push("many/held", "index", index)
        kind.push("many/held", "single", single)
        texts = {tag: f"{kind.netloc}/many/held:{tag}" for tag in ("index", "single")}
        found = reader(kind).held([parse(text) for text in texts.values()])
        identity = "anonymous" if kind.opens == "anyone" else USER
        listed = found[texts["index"]]
        assert isinstance(listed, Held)
        assert (listed.digest, listed.kind, listed.identity) == (build(index).top.digest, "index", identity)
        assert [(each.architecture, each.digest) for each in listed.platforms or ()] == [
            ("amd64", build(index).manifests[0].digest), ("arm64", build(index).manifests[1].digest)]
        assert found[texts["single"]] == Held(digest=build(single).top.digest, kind="manifest", platforms=None, identity=identity)

    def test_of_a_pin_is_what_it_pins_and_not_what_the_tag_moved_to(self, kind: Kind) -> None:
        first = kind.push("many/pinned", "nightly", described(day=1))
        second = kind.push("many/pinned", "nightly", described(day=2))
        tag = f"{kind.netloc}/many/pinned:nightly"
        found = reader(kind).held([parse(tag), parse(f"{tag}@{first}")])
        assert (found[tag].digest, found[f"{tag}@{first}"].digest) == (second, first)

    def test_costs_one_request_an_image(self, kind: Kind) -> None:
        for number in range(5):
            kind.push(f"many/cost-{number}", "v1", described())
        reader(kind).held([parse(f"{kind.netloc}/many/cost-{number}:v1") for number in range(5)])
        assert answered(kind, "many/cost-") == 5

    @pytest.mark.parametrize("absent", ["many/known:v2", f"many/known@{ABSENT}", "many/unknown:v1"])
    def test_says_of_one_that_it_is_missing_and_what_the_others_are(self, kind: Kind, absent: str) -> None:
        pushed = kind.push("many/known", "v1", described())
        there, gone = f"{kind.netloc}/many/known:v1", f"{kind.netloc}/{absent}"
        found = reader(kind).held([parse(gone), parse(there)])
        assert isinstance(found[gone], Missing)
        assert found[there].digest == pushed

    @pytest.mark.parametrize("kind", of("loopback", "token"), indirect=True)
    def test_is_refused_for_what_is_private_and_for_nothing_else(self, kind: Kind) -> None:
        pushed = kind.push("many/open", "v1", described())
        kind.push(f"{PRIVATE}many", "v1", described())
        there, shut = f"{kind.netloc}/many/open:v1", f"{kind.netloc}/{PRIVATE}many:v1"
        found = reader(kind, user="", password="").held([parse(shut), parse(there)])
        assert isinstance(found[shut], Refusal) and "anonymous" in str(found[shut])
        assert found[there].digest == pushed
