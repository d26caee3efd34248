"""What a scan asks of registries, and what it makes of the answers: counted, since every request is somebody's limit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.adapters.assets import PackagedAssets
from bot.cli.packaged import schemes
from bot.errors import Unreachable
from bot.images.reference import parse
from bot.layout import load
from bot.model.image import Held, Platform, Reference, Sight
from bot.model.ledger import Seen
from bot.model.outcome import Disposition
from bot.scan import Scan, Sources
from bot.scan import scan as look_at

NOW = datetime(2026, 11, 30, tzinfo=UTC)
NAME = "docker.io/x/engine"
LAYOUT = """version: 1
recipes: [{files: "*.yaml", key: .name, image: [.image], facts: {hardware: .runner}}]
hardware: {gb200: {platform: linux/arm64, digests: %s}}
allow: [docker.io/x/engine, ghcr.io/x/other]
policy: {%s}
"""
SCHEMES = schemes(PackagedAssets())


def digest(word: str) -> str:
    return "sha256:" + word.encode().hex().ljust(64, "0")[:64]


class Registry:
    """Repositories by name: tags, and what each holds. It counts what it is asked."""

    def __init__(self, **tags: str) -> None:
        self.tags = {NAME: {tag.replace("_", "."): content for tag, content in tags.items()}}
        self.down: set[str] = set()
        self.listed: list[str] = []
        self.held_: list[str] = []
        self.architectures = ("amd64", "arm64")

    def listings(self, references: Sequence[Reference]) -> dict[str, Any]:
        names = sorted({each.name for each in references})
        self.listed += names
        return {name: Unreachable(f"{name} is down", "wait") if name in self.down else tuple(self.tags.get(name, ())) for name in names}

    def held(self, references: Sequence[Reference]) -> dict[str, Any]:
        texts = sorted({each.text for each in references})
        self.held_ += texts
        return {text: self._held(parse(text)) for text in texts}

    def _held(self, wanted: Reference) -> Any:
        content = self.tags[wanted.name][wanted.tag or ""]
        if content == "broken":
            return Unreachable("no answer", "wait")
        platforms = tuple(Platform(os="linux", architecture=each, digest=digest(content + each), size=1) for each in self.architectures)
        return Held(digest=digest(content), kind="index", platforms=platforms)


class Files:
    """One recipe a file, named r0 and on."""

    def __init__(self, images: Sequence[str]) -> None:
        self.files = {f"r{number}.yaml": f"name: r{number}\nimage: {image}\nrunner: gb200\n".encode() for number, image in enumerate(images)}

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def paths(self, prefix: str = "") -> list[str]:
        return [path for path in self.files if path.startswith(prefix)]


def scan(registry: Registry | None, *images: str, policy: str = "", digests: str = "proven", seen: Seen | None = None,
         more: str = "", few: int = 0, **asked: Any) -> Scan:
    sources = Sources(registry=registry, schemes=SCHEMES, now=NOW, seen=lambda each: seen or Seen(), few=few, **asked)
    return look_at(Files(images), load(LAYOUT % (digests, policy) + more, file="layout.yml"), sources)


class TestANewerTag:
    def test_is_looked_at_and_pinned_as_the_file_would_name_it(self) -> None:
        # BR005, BR020: the digest of the index, which serves every platform
        registry = Registry(v1_0_0="old", v1_1_0="new", v1_0_5="between")
        found, = scan(registry, "x/engine:v1.0.0").lines
        assert found.candidate == f"x/engine:v1.1.0@{digest('new')}" and found.disposition is None
        assert (registry.listed, registry.held_) == ([NAME], ["x/engine:v1.1.0"]), "two requests an image"

    @pytest.mark.parametrize(("image", "named"), [
        ("docker.io#x/engine:v1.0.0", "docker.io#x/engine:v1.1.0"), ("docker.io/x/engine:v1.0.0", "docker.io/x/engine:v1.1.0")])
    def test_keeps_the_spelling_and_is_named_by_its_tag_alone_where_a_launcher_takes_no_digest(self, image: str, named: str) -> None:
        found, = scan(Registry(v1_0_0="old", v1_1_0="new"), image, digests="unproven").lines
        assert found.candidate == named

    def test_without_the_platform_makes_room_for_the_next(self) -> None:
        registry = Registry(v1_0_0="old", v1_1_0="new")
        registry.architectures = ("amd64",)
        found, = scan(registry, "x/engine:v1.0.0").lines
        assert found.candidate is None and any("linux/arm64" in reason for reason in found.reasons)

    def test_that_cannot_be_looked_at_is_replaced_by_no_older_one(self) -> None:
        found, = scan(Registry(v1_0_0="old", v1_0_5="between", v1_1_0="broken"), "x/engine:v1.0.0").lines
        assert found.candidate is None and found.unknown == ("what v1.1.0 holds: no answer: wait",)

    def test_that_must_age_is_looked_at_so_that_its_age_counts_from_now(self) -> None:
        # BR005
        registry, aged = Registry(v1_0_0="old", v1_1_0="new"), "minimum-age-days: 2"
        first = scan(registry, "x/engine:v1.0.0", policy=aged)
        assert first.lines[0].candidate is None and [look.digest for look in first.looks] == [digest("new")]
        seen = Seen(tags={"v1.1.0": (Sight(digest=digest("new"), at=NOW - timedelta(days=3)),)})
        assert scan(registry, "x/engine:v1.0.0", policy=aged, seen=seen).lines[0].candidate is not None


class TestTheRecipesOwnTag:
    def test_is_looked_at_where_nothing_is_newer(self) -> None:
        registry = Registry(v1_0_0="old")
        done = scan(registry, "x/engine:v1.0.0")
        assert done.lines[0].disposition is not None and registry.held_ == ["x/engine:v1.0.0"]
        assert [(look.reference.tag, look.digest) for look in done.looks] == [("v1.0.0", digest("old"))]

    def test_that_was_pushed_again_is_the_candidate(self) -> None:
        pinned = f"x/engine:v1.0.0@{digest('old')}"
        seen = Seen(tags={"v1.0.0": (Sight(digest=digest("old"), at=NOW - timedelta(days=30)),)})
        found, = scan(Registry(v1_0_0="rebuilt"), pinned, seen=seen).lines
        assert found.candidate == f"x/engine:v1.0.0@{digest('rebuilt')}"
        assert any("was pushed again" in reason for reason in found.reasons)


    def test_that_has_no_digest_is_looked_at_beside_the_winner_by_who_looks_daily(self) -> None:
        registry = Registry(v1_0_0="old", v1_1_0="new")
        done = scan(registry, "x/engine:v1.0.0", own_too=True)
        assert [(look.reference.tag, look.digest) for look in done.looks] == [("v1.1.0", digest("new")), ("v1.0.0", digest("old"))]
        assert done.lines[0].candidate == f"x/engine:v1.1.0@{digest('new')}"
        registry = Registry(v1_0_0="old", v1_1_0="new")
        scan(registry, f"x/engine:v1.0.0@{digest('old')}", own_too=True)
        assert registry.held_ == ["x/engine:v1.1.0"]

    def test_that_has_no_digest_and_holds_what_a_newer_tag_holds_stays(self) -> None:
        found, = scan(Registry(v1_0_0="same", v1_1_0="same"), "x/engine:v1.0.0", own_too=True).lines
        assert (found.candidate, found.disposition) == (None, Disposition.ALREADY_CURRENT)
        assert found.lost["v1.1.0"] == f"is {digest('same')}, which the recipe already runs"

    def test_that_cannot_be_looked_at_keeps_no_newer_one_from_being_proposed(self) -> None:
        registry = Registry(v1_0_0="broken", v1_1_0="new")
        found, = scan(registry, "x/engine:v1.0.0", own_too=True).lines
        assert found.candidate is not None and "what v1.0.0 holds: no answer: wait" in found.unknown
        assert registry.held_ == ["x/engine:v1.1.0", "x/engine:v1.0.0"], "each is asked once"


    def test_is_looked_at_too_where_there_are_few_images(self) -> None:
        registry = Registry(v1_0_0="same", v1_1_0="same")
        found, = scan(registry, "x/engine:v1.0.0", few=1).lines
        assert (found.candidate, found.disposition) == (None, Disposition.ALREADY_CURRENT), "a newer name of the bytes that run"
        registry = Registry(v1_0_0="old", v1_0_1="newer", v1_1_0="new")
        found, _ = scan(registry, "x/engine:v1.0.0", "x/engine:v1.0.1", few=1).lines
        assert registry.held_ == ["x/engine:v1.1.0"] and "which digest v1.0.0 holds now" in found.unknown

class TestManyRecipes:
    def test_that_share_an_image_ask_once(self) -> None:
        registry = Registry(v1_0_0="old", v1_1_0="new")
        done = scan(registry, *["x/engine:v1.0.0"] * 5)
        assert len({one.candidate for one in done.lines}) == 1 and (len(registry.listed), len(registry.held_)) == (1, 1)

    def test_of_a_registry_that_fails_leave_the_others_their_answer(self) -> None:
        # BR050
        registry = Registry(v1_0_0="old", v1_1_0="new")
        registry.down = {"ghcr.io/x/other"}
        done = scan(registry, "ghcr.io/x/other:v1.0.0", "x/engine:v1.0.0")
        assert done.answered and done.lines[0].unknown == ("which tags there are: ghcr.io/x/other is down: wait",)
        assert done.lines[0].candidate is None and done.lines[1].candidate is not None

    def test_of_which_none_gets_an_answer_are_told_apart_from_those_without_a_candidate(self) -> None:
        registry = Registry()
        registry.down = {NAME}
        assert not scan(registry, "x/engine:v1.0.0").answered and scan(Registry(), "x/engine:v1.0.0").answered

    @pytest.mark.parametrize(("image", "policy"), [
        ("elsewhere/engine:v1.0.0", ""), ("x/engine:v1.0.0", "channel: pinned, reason: the fix is not released"),
        ("x/engine@" + digest("a"), ""), ("not an image", ""),
    ])
    def test_that_may_not_move_cost_no_request(self, image: str, policy: str) -> None:
        registry = Registry(v1_0_0="old", v1_1_0="new")
        found, = scan(registry, image, policy=policy).lines
        assert found.candidate is None and registry.listed == registry.held_ == []

    def test_without_a_registry_say_so(self) -> None:
        found, = scan(None, "x/engine:v1.0.0").lines
        assert found.candidate is None and found.unknown == ("which tags there are: no registry was asked (--offline)",)
