"""When two texts name one image."""

from __future__ import annotations

from bot.images.alike import alike

DEV = "vllm/vllm-openai:nightly-dev-arm64-cu13-3696c77"
DIGEST, OTHER = "@sha256:" + "4" * 64, "@sha256:" + "5" * 64


class TestTwoTexts:
    def test_digests_decide_where_both_have_one(self) -> None:
        assert alike(f"{DEV}{DIGEST}", f"vllm/vllm-openai:x{DIGEST}") == "digest"
        assert alike(f"{DEV}{DIGEST}", f"mirror.example/vllm:x{DIGEST}") == "digest"
        assert alike(f"{DEV}{DIGEST}", f"{DEV}{OTHER}") is None

    def test_else_the_tag_of_the_same_repository_does_however_it_is_spelt(self) -> None:
        assert alike(DEV, f"docker.io/{DEV}{DIGEST}") == "tag"
        assert alike("nvcr.io#a/b:1", "nvcr.io/a/b:1") == "tag"
        assert alike("localhost:5000/a/b:1", "localhost:5000/a/b:1") == "tag"
        assert alike("a/b:1", "a/c:1") is None and alike("a/b:1", "a/b:2") is None

    def test_without_a_tag_nothing_is_known_and_what_is_no_reference_is_none(self) -> None:
        assert alike("a/b", "a/b") is None
        assert alike("dynamo sglang", "dynamo sglang") is None
