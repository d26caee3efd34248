"""Many questions at a time: each asked once, each with an answer or an error of its own, tokens shared."""

from __future__ import annotations

from bot.adapters.registry import OciRegistry
from bot.errors import Missing, Unreachable
from bot.images.reference import parse
from tests.adapters.fake_registry import FakeClock


def port(**options) -> OciRegistry:
    return OciRegistry(FakeClock(), **options)


class TestWhatTagsHold:
    def test_is_told_by_one_get_an_image_with_the_platforms_of_its_index(self, registry):
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
        registry.index("v1")
        names = [f"{registry.netloc}/a/b:v1", f"{registry.netloc}/a/b:v2", "127.0.0.1:1/a/b:v1"]
        found = port().held([parse(name) for name in names])
        assert found[names[0]].kind == "index"
        assert isinstance(found[names[1]], Missing) and isinstance(found[names[2]], Unreachable)

    def test_of_nothing_is_nothing(self):
        assert port().held([]) == {} and port().listings([]) == {}


class TestListings:
    def test_are_asked_once_a_repository_however_many_references_name_it(self, registry):
        registry.names = {"v1": "x", "v2": "x"}
        references = [parse(f"{registry.netloc}/a/b:{tag}") for tag in ("v1", "v2", "v3")] + [parse("127.0.0.1:1/a/b")]
        found = port().listings(references)
        assert found[f"{registry.netloc}/a/b"] == ("v1", "v2")
        assert isinstance(found["127.0.0.1:1/a/b"], Unreachable) and len(registry.asked) == 1
