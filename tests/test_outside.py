"""The registry adapter against a registry that we did not write: Debian's docker-registry, filled by skopeo."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.clock import SystemClock
from bot.adapters.registry import OciRegistry
from bot.errors import Missing
from bot.images.reference import parse

pytestmark = pytest.mark.needs("docker-registry", "skopeo")
COMMIT = "3696c77a1b0f4c5d9e8f7a6b5c4d3e2f1a0b9c8d"
CONFIG = """version: 0.1
storage: {{filesystem: {{rootdirectory: {folder}/stored}}}}
http: {{addr: "127.0.0.1:{port}"}}
"""


def blob(layout: Path, value: Any) -> dict[str, Any]:
    """Writes bytes or JSON into an OCI layout; its digest and size, as a descriptor holds them."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    digest = hashlib.sha256(data).hexdigest()
    (layout / "blobs" / "sha256").mkdir(parents=True, exist_ok=True)
    (layout / "blobs" / "sha256" / digest).write_bytes(data)
    return {"digest": f"sha256:{digest}", "size": len(data)}


def image(layout: Path, architecture: str) -> dict[str, Any]:
    """One platform's manifest with the labels and environment that an engine's image carries."""
    kind = "application/vnd.oci.image"
    config = {"architecture": architecture, "os": "linux", "created": "2026-09-03T01:02:03Z",
              "config": {"Labels": {"org.opencontainers.image.revision": COMMIT}, "Env": ["CUDA_VERSION=13.0.1"]},
              "rootfs": {"type": "layers", "diff_ids": []}}
    manifest = {"schemaVersion": 2, "mediaType": f"{kind}.manifest.v1+json", "layers": [],
                "config": {"mediaType": f"{kind}.config.v1+json", **blob(layout, config)}}
    return {"mediaType": f"{kind}.manifest.v1+json", **blob(layout, manifest),
            "platform": {"os": "linux", "architecture": architecture}}


def write_layout(layout: Path) -> str:
    """An OCI layout with one index of two platforms under the tag v1; the index's digest."""
    kind = "application/vnd.oci.image.index.v1+json"
    manifests = [image(layout, "amd64"), image(layout, "arm64")]
    index = {"mediaType": kind, **blob(layout, {"schemaVersion": 2, "mediaType": kind, "manifests": manifests})}
    named = {**index, "annotations": {"org.opencontainers.image.ref.name": "v1"}}
    (layout / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    (layout / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [named]}))
    return str(index["digest"])


def free_port() -> int:
    """A loopback port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listening(port: int) -> bool:
    """Whether something accepts connections there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A running registry that holds bench/engine:v1: its address, and the digest that was pushed."""
    folder, port = tmp_path_factory.mktemp("registry"), free_port()
    (folder / "config.yml").write_text(CONFIG.format(folder=folder, port=port))
    digest = write_layout(folder / "layout")
    env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    server = subprocess.Popen(["docker-registry", "serve", str(folder / "config.yml")], env=env,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        patience = threading.Event()
        until = time.monotonic() + 20
        while not listening(port):
            assert server.poll() is None and time.monotonic() < until, "docker-registry did not start"
            patience.wait(0.02)
        subprocess.run(["skopeo", "--insecure-policy", "copy", "--all", "--quiet", "--dest-tls-verify=false",
                        f"oci:{folder / 'layout'}:v1", f"docker://127.0.0.1:{port}/bench/engine:v1"],
                       env=env, check=True, capture_output=True, timeout=60)
        yield f"127.0.0.1:{port}", digest
    finally:
        server.terminate()
        server.wait(timeout=20)


class TestARegistryOfDebian:
    def test_tells_the_digest_that_was_pushed_and_both_platforms(self, registry: tuple[str, str]) -> None:
        address, digest = registry
        found = OciRegistry(SystemClock()).resolve(parse(f"{address}/bench/engine:v1"))
        assert (found.kind, found.digest) == ("index", digest)
        assert [platform.architecture for platform in found.platforms] == ["amd64", "arm64"]
        assert (found.facts.commit, found.facts.cuda) == (COMMIT, "13.0.1")

    def test_answers_a_pin_by_digest_with_the_same_bytes(self, registry: tuple[str, str]) -> None:
        address, digest = registry
        assert OciRegistry(SystemClock()).resolve(parse(f"{address}/bench/engine@{digest}")).digest == digest

    def test_lists_its_tags(self, registry: tuple[str, str]) -> None:
        assert list(OciRegistry(SystemClock()).tags(parse(f"{registry[0]}/bench/engine:v1"))) == ["v1"]

    def test_says_that_a_tag_is_missing(self, registry: tuple[str, str]) -> None:
        with pytest.raises(Missing):
            OciRegistry(SystemClock()).resolve(parse(f"{registry[0]}/bench/engine:v2"))
