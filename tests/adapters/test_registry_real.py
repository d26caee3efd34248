"""Debian's docker-registry filled by skopeo: two programs that we did not write agree on what we built, and so does the client."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bot.adapters.registry import OciRegistry
from bot.images.reference import parse
from bot.rehearse.registry import build
from tests.adapters.fake_registry import FakeClock
from tests.adapters.kinds import Kind, Running, described, of, reader
from tests.adapters.registries import DockerRegistry, skopeo_copy, write_layout

pytestmark = pytest.mark.needs("docker-registry", "skopeo")
IMAGES = {"v0.25.1": described(day=1, env={"CUDA_VERSION": "13.0.1"}),
          "v0.27.1": described(day=2, kind="manifest", platforms=("linux/arm64",))}


@pytest.fixture(scope="module")
def layout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An OCI layout with an index of two platforms and a single manifest."""
    folder = tmp_path_factory.mktemp("layout") / "oci"
    assert write_layout(folder, IMAGES) == {tag: build(image).top.digest for tag, image in IMAGES.items()}
    return folder


@pytest.mark.parametrize("kind", of("plain", "htpasswd", "token"), indirect=True)
class TestFilledBySkopeo:
    def test_holds_the_layouts_digests_and_platforms(self, kind: Kind, layout: Path) -> None:
        for tag, image in IMAGES.items():
            skopeo_copy(layout, tag, f"{kind.netloc}/skopeo/image:{tag}", login=kind.opens != "anyone")
            found, content = reader(kind).resolve(parse(f"{kind.netloc}/skopeo/image:{tag}")), build(image)
            assert (found.kind, found.digest, found.created) == (image.kind, content.top.digest, image.created)
            assert [platform.digest for platform in found.platforms] == [
                made.digest for made in content.manifests or (content.top,)]
        assert sorted(reader(kind).tags(parse(f"{kind.netloc}/skopeo/image"))) == sorted(IMAGES)


@pytest.mark.parametrize("kind", of("htpasswd", "token"), indirect=True)
def test_nobody_fills_a_registry_without_its_login(kind: Kind, layout: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError) as told:
        skopeo_copy(layout, "v0.27.1", f"{kind.netloc}/skopeo/shut:v1")
    assert b"authentication required" in told.value.stderr or b"unauthorized" in told.value.stderr


def test_the_hubs_name_resolves_here_under_an_override(running: Running, layout: Path) -> None:
    kind = running["plain"]
    assert isinstance(kind, DockerRegistry)
    skopeo_copy(layout, "v0.25.1", f"{kind.netloc}/vllm/vllm-openai:v0.25.1")
    port = OciRegistry(FakeClock(), override={"docker.io": f"http://{kind.netloc}"})
    found = port.resolve(parse("vllm/vllm-openai:v0.25.1"))
    assert (found.digest, found.facts.cuda, found.pushed) == (build(IMAGES["v0.25.1"]).top.digest, "13.0.1", None)
