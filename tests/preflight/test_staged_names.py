"""By what names a list of what is staged may call an image or a model: no spelling that people use stops a bump that would hold."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.model.image import Reference
from bot.model.preflight import Facts, Staged
from bot.preflight import staging
from tests.preflight.worlds import clean, facts, image, only, recipe

TAG, DIGEST = "vllm/vllm-openai:v0.29.0", "sha256:" + "c2914767" * 8
OWN = recipe(model="cedar/Aspen-32B", prefix="")


def pinned(text: str = TAG, old: str = "vllm/vllm-openai:kimi-k3", **more: object) -> Facts:
    """A bump as the bot makes it: the reference with its digest."""
    told = facts(OWN, **more)
    new, before = (image(one) for one in (text, old))
    reference = Reference(text=f"{text}@{DIGEST}", registry="docker.io", repository="vllm/vllm-openai",
                          tag=new.reference.tag, digest=DIGEST)
    return replace(told, candidate=replace(told.candidate, old=before, new=replace(new, reference=reference), text=reference.text))


def lists(*images: str, **more: object) -> tuple[Staged, ...]:
    return (Staged(**{"runner": "h200-dgxc", "images": images, "models": ("cedar/Aspen-32B",), "source": "ops", **more}),)  # type: ignore[arg-type]


class TestAPinnedImage:
    @pytest.mark.parametrize("name", [
        TAG, f"docker.io/{TAG}", f"docker://{TAG}", f"{TAG}@{DIGEST}", f"vllm/vllm-openai@{DIGEST}", f"docker.io#{TAG}",
        f"/data/vllm_vllm-openai_v0.29.0_{DIGEST.replace(':', '_')}.sqsh", f"/data/vllm+vllm-openai+v0.29.0+{DIGEST.replace(':', '+')}",
    ])
    def test_is_staged_where_a_list_names_it_as_people_do(self, name: str) -> None:
        """The bot pins the digest; no operator writes it down."""
        assert clean(staging.check(pinned(staged=lists("other:1", name))))

    @pytest.mark.parametrize("name", [
        "vllm/vllm-openai:v0.28.0", "vllm/vllm-openai", "other/vllm-openai:v0.29.0", f"{TAG}@sha256:{'ab' * 32}",
        f"{TAG}-cu130", "vllm_vllm-openai_v0.29.0.sqsh",
    ])
    def test_is_not_there_by_another_name(self, name: str) -> None:
        assert only(staging.check(pinned(staged=lists(name)))).action == "stop"

    def test_that_moves_to_other_bytes_of_its_own_tag_is_unknown(self) -> None:
        """A list of tags was true of the old bytes too."""
        told = pinned(old=TAG, staged=lists(TAG))
        old = replace(told.candidate.old, digest="sha256:" + "ab" * 32)
        checked = staging.check(replace(told, candidate=replace(told.candidate, old=old)))
        assert checked.findings == () and checked.unknown is not None and "same tag" in checked.unknown.en

    def test_is_told_with_its_digest_in_every_sentence(self) -> None:
        """Whoever stages it must be able to copy the reference: `@sha256:` is no mention."""
        found = only(staging.check(pinned(staged=lists("other:1"))))
        assert found.what and found.release
        for text in (found.what, found.next, found.release.says):
            assert f"{TAG}@{DIGEST}" in text.en and f"{TAG}@{DIGEST}" in text.zh
        assert f"{TAG}@{DIGEST}" in found.evidence


class TestGlobs:
    @pytest.mark.parametrize("glob", ["cedar/*", "cedar/Aspen-32B", "aspen-*", "*"])
    def test_of_downloads_are_of_the_model_where_there_is_no_prefix(self, glob: str) -> None:
        told = lists(f"{TAG}@{DIGEST}", models=(), downloads=(glob,), locked=True)
        assert clean(staging.check(pinned(staged=told)))

    @pytest.mark.parametrize("glob", ["vllm/*", "docker.io/vllm/vllm-openai", TAG, f"{TAG}@{DIGEST}", "cedar/*", "*"])
    def test_of_imports_are_of_the_image_or_the_model(self, glob: str) -> None:
        assert clean(staging.check(pinned(staged=lists(imports=(glob,)))))

    @pytest.mark.parametrize("glob", ["birch/*", "sglang/*", "?"])
    def test_of_others_fetch_nothing_here(self, glob: str) -> None:
        checked = staging.check(pinned(staged=lists(models=(), imports=(glob,), downloads=(glob,), locked=True)))
        assert [one.action for one in checked.findings] == ["stop", "stop"]


class TestAModelsName:
    @pytest.mark.parametrize("name", [
        "cedar/Aspen-32B", "aspen-32b", "/models/Aspen-32B/", "models--cedar--Aspen-32B", "/hub/models--cedar--Aspen-32B/snapshots/ab12",
    ])
    def test_is_that_of_its_folder(self, name: str) -> None:
        assert clean(staging.check(pinned(staged=lists(TAG, models=(name,)))))
