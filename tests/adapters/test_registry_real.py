"""The registry client against Debian's docker-registry, filled by skopeo: plain, and with a login asked for."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import socket
import subprocess
import tarfile
import time
from pathlib import Path

import pytest

from bot.adapters.registry import OciRegistry
from bot.errors import Missing, Refusal
from bot.images.reference import parse
from tests.adapters.fake_registry import FakeClock, sha

pytestmark = pytest.mark.needs("docker-registry", "skopeo")
OCI = "application/vnd.oci.image"
CONFIG = """version: 0.1
storage: {{filesystem: {{rootdirectory: {folder}/data}}}}
http: {{addr: '127.0.0.1:{port}'}}
"""


def layout(folder: Path, tag: str, architectures: tuple[str, ...]) -> str:
    """An OCI layout with one index of tiny images; the index's digest."""

    def put(body: bytes) -> dict:
        place = folder / "blobs" / "sha256" / sha(body).removeprefix("sha256:")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(body)
        return {"digest": sha(body), "size": len(body)}

    children = []
    for architecture in architectures:
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.addfile(tarfile.TarInfo(f"etc/{architecture}"))
        raw = packed.getvalue()
        config = put(json.dumps({
            "created": "2026-08-17T09:30:00Z", "os": "linux", "architecture": architecture,
            "config": {"Env": ["CUDA_VERSION=13.0.1"], "Labels": {"org.opencontainers.image.revision": "7" * 40}},
            "rootfs": {"type": "layers", "diff_ids": [sha(raw)]}}).encode())
        manifest = put(json.dumps({
            "schemaVersion": 2, "mediaType": f"{OCI}.manifest.v1+json",
            "config": {"mediaType": f"{OCI}.config.v1+json", **config},
            "layers": [{"mediaType": f"{OCI}.layer.v1.tar+gzip", **put(gzip.compress(raw, mtime=0))}]}).encode())
        children.append({"mediaType": f"{OCI}.manifest.v1+json", **manifest,
                         "platform": {"os": "linux", "architecture": architecture}})
    top = put(json.dumps({"schemaVersion": 2, "mediaType": f"{OCI}.index.v1+json", "manifests": children}).encode())
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    entry = {"mediaType": f"{OCI}.index.v1+json", **top, "annotations": {"org.opencontainers.image.ref.name": tag}}
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [entry]}))
    return top["digest"]


def start(folder: Path, auth: str = "") -> tuple[subprocess.Popen[bytes], str]:
    """docker-registry on a free port, listening; its process and host:port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = folder / "config.yml"
    settings.write_text(CONFIG.format(folder=folder, port=port) + auth)
    process = subprocess.Popen([shutil.which("docker-registry") or "", "serve", str(settings)],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(2000):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return process, f"127.0.0.1:{port}"
        time.sleep(0.005)
    process.kill()
    pytest.fail("docker-registry did not start")


def push(source: Path, tag: str, target: str, *login: str) -> None:
    subprocess.run(["skopeo", "copy", "--all", "--insecure-policy", "--dest-tls-verify=false", *login,
                    f"oci:{source}:{tag}", f"docker://{target}"], check=True, capture_output=True, timeout=60)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    process, netloc = start(folder)
    digests = {}
    for tag, architectures in (("v0.25.1", ("amd64", "arm64")), ("v0.27.1", ("arm64",))):
        digests[tag] = layout(folder / tag, tag, architectures)
        push(folder / tag, tag, f"{netloc}/vllm/vllm-openai:{tag}")
    yield netloc, digests
    process.terminate()
    process.wait(10)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("login")
    made = subprocess.run(["htpasswd", "-Bbn", "bot", "secret"], check=True, capture_output=True)
    (folder / "htpasswd").write_bytes(made.stdout)
    process, netloc = start(folder, f"auth: {{htpasswd: {{realm: here, path: {folder}/htpasswd}}}}\n")
    digest = layout(folder / "image", "v1", ("amd64",))
    push(folder / "image", "v1", f"{netloc}/a/b:v1", "--dest-creds", "bot:secret")
    yield netloc, digest
    process.terminate()
    process.wait(10)


class TestPlain:
    def test_an_index_resolves_to_the_digest_that_was_pushed(self, plain):
        netloc, digests = plain
        found = OciRegistry(FakeClock()).resolve(parse(f"{netloc}/vllm/vllm-openai:v0.25.1"))
        assert (found.kind, found.digest) == ("index", digests["v0.25.1"])
        assert [p.architecture for p in found.platforms] == ["amd64", "arm64"]
        assert (found.facts.cuda, found.facts.commit) == ("13.0.1", "7" * 40)

    def test_a_platforms_digest_resolves_to_its_manifest(self, plain):
        netloc, _ = plain
        port = OciRegistry(FakeClock())
        child = port.resolve(parse(f"{netloc}/vllm/vllm-openai:v0.25.1")).platforms[1]
        found = port.resolve(parse(f"{netloc}/vllm/vllm-openai@{child.digest}"))
        assert (found.kind, found.digest, found.platforms[0].architecture) == ("manifest", child.digest, "arm64")

    def test_the_hubs_name_resolves_here_under_an_override(self, plain):
        netloc, digests = plain
        port = OciRegistry(FakeClock(), override={"docker.io": f"http://{netloc}"})
        found = port.resolve(parse("vllm/vllm-openai:v0.27.1"))
        assert found.digest == digests["v0.27.1"] and found.pushed is None

    def test_tags_are_listed_and_what_is_not_there_is_missing(self, plain):
        netloc, _ = plain
        port = OciRegistry(FakeClock())
        assert sorted(port.tags(parse(f"{netloc}/vllm/vllm-openai"))) == ["v0.25.1", "v0.27.1"]
        for absent in ("vllm/vllm-openai:v9", "no/such:v1"):
            with pytest.raises(Missing):
                port.resolve(parse(f"{netloc}/{absent}"))


@pytest.mark.skipif(shutil.which("htpasswd") is None, reason="htpasswd (apache2-utils) is absent")
class TestBehindALogin:
    def test_dockers_credentials_open_it_and_are_named(self, guarded):
        netloc, digest = guarded
        config = {"auths": {netloc: {"username": "bot", "password": "secret"}}}
        found = OciRegistry(FakeClock(), credentials=config).resolve(parse(f"{netloc}/a/b:v1"))
        assert (found.digest, found.identity) == (digest, "bot")

    @pytest.mark.parametrize("auths", [{}, {"username": "bot", "password": "wrong"}])
    def test_without_the_right_ones_it_is_refused(self, guarded, auths):
        netloc, _ = guarded
        with pytest.raises(Refusal):
            OciRegistry(FakeClock(), credentials={"auths": {netloc: auths}}).resolve(parse(f"{netloc}/a/b:v1"))
