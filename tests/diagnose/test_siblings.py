"""Who else in the repository runs an image, and what they say at one key."""

from __future__ import annotations

from bot.diagnose.siblings import Sibling, counted, siblings

DEV = "vllm/vllm-openai:nightly-dev-arm64-cu13-3696c77"
DIGEST = "@sha256:" + "4" * 64


def recipe(image: str, processor: str | None) -> bytes:
    args = f"{{dyn-chat-processor: {processor}}}" if processor else "{router-mode: kv}"
    return f"model: {{container: '{image}'}}\nfrontend:\n  args: {args}\n".encode()


class TestSiblings:
    FILES = {
        "gb300-a.yaml": recipe(f"{DEV}{DIGEST}", "dynamo"),
        "gb300-b.yaml": recipe(DEV, None),
        "other.yaml": recipe("vllm/vllm-openai:v0.29.0", "vllm"),
        "self.yaml": recipe(DEV, "vllm"),
        "broken.yaml": b"a: [",
        "own.yaml": f"image: docker.io/{DEV}\n".encode(),
    }

    def test_those_on_the_same_image_are_listed_with_what_they_hold(self):
        found = siblings(self.FILES, "frontend.args.dyn-chat-processor", f"{DEV}{DIGEST}", without=["self.yaml"])
        assert found == (
            Sibling(file="gb300-a.yaml", image=f"{DEV}{DIGEST}", value="dynamo"),
            Sibling(file="gb300-b.yaml", image=DEV, value=None),
            Sibling(file="own.yaml", image=f"docker.io/{DEV}", value=None),
        )
        assert counted(found) == {"-": 2, "dynamo": 1}
