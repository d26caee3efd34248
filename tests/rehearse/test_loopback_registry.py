"""The loopback registry, asked over HTTP as a stranger would, and through the bot's own adapter."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from bot.rehearse.clock import VirtualClock
from bot.rehearse.registry import INDEX, MANIFEST, ImageData, LoopbackRegistry

DECLARED = "sha256:" + "42" * 32


def image(day: int, **more: object) -> ImageData:
    when = datetime(2026, 9, day, 12, tzinfo=UTC)
    return ImageData(**{"created": when, "pushed": when, "platforms": ("linux/amd64", "linux/arm64"), **more})


@pytest.fixture
def registry() -> Iterator[LoopbackRegistry]:
    held = LoopbackRegistry(
        {
            "acme/engine": {
                "v1": image(1, labels={"built-by": "acme"}, env={"CUDA_VERSION": "13.0.1"}),
                "v2": image(2, kind="manifest", platforms=("linux/arm64",)),
                "v3": image(3, digest=DECLARED),
            },
            "acme/other": {"v1": image(1)},
        }
    )
    held.start()
    yield held
    held.stop()


def token(registry: LoopbackRegistry, repository: str = "acme/engine") -> dict[str, str]:
    challenge = httpx.get(f"{registry.url}/v2/{repository}/tags/list").headers["www-authenticate"]
    realm, service, scope = (part.split('"')[1] for part in challenge.removeprefix("Bearer ").split(","))
    made = httpx.get(realm, params={"service": service, "scope": scope}).json()["token"]
    return {"Authorization": f"Bearer {made}"}


class TestWhoMayAsk:
    def test_a_stranger_is_told_where_tokens_are_given(self, registry: LoopbackRegistry) -> None:
        answer = httpx.get(f"{registry.url}/v2/acme/engine/manifests/v1")
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == (
            f'Bearer realm="{registry.url}/token",service="loopback",scope="repository:acme/engine:pull"'
        )

    def test_a_token_is_good_for_its_repository_alone(self, registry: LoopbackRegistry) -> None:
        held = token(registry)
        assert httpx.get(f"{registry.url}/v2/acme/engine/tags/list", headers=held).status_code == 200
        assert httpx.get(f"{registry.url}/v2/acme/other/tags/list", headers=held).status_code == 401

    def test_any_token_answers_the_ping(self, registry: LoopbackRegistry) -> None:
        assert httpx.get(f"{registry.url}/v2/").status_code == 401
        assert httpx.get(f"{registry.url}/v2/", headers=token(registry)).status_code == 200


class TestContent:
    def test_everything_an_index_names_is_served_under_the_hash_of_its_bytes(self, registry: LoopbackRegistry) -> None:
        held, base = token(registry), f"{registry.url}/v2/acme/engine"
        index = httpx.get(f"{base}/manifests/v1", headers=held)
        assert index.headers["content-type"] == INDEX
        assert index.headers["docker-content-digest"] == "sha256:" + hashlib.sha256(index.content).hexdigest()
        assert [entry["platform"]["architecture"] for entry in index.json()["manifests"]] == ["amd64", "arm64"]
        for entry in index.json()["manifests"]:
            manifest = httpx.get(f"{base}/manifests/{entry['digest']}", headers=held)
            assert (len(manifest.content), "sha256:" + hashlib.sha256(manifest.content).hexdigest()) == (
                entry["size"],
                entry["digest"],
            )
            for blob in (manifest.json()["config"], *manifest.json()["layers"]):
                body = httpx.get(f"{base}/blobs/{blob['digest']}", headers=held).content
                assert (len(body), "sha256:" + hashlib.sha256(body).hexdigest()) == (blob["size"], blob["digest"])

    def test_head_has_the_headers_of_get_and_no_body(self, registry: LoopbackRegistry) -> None:
        held, url = token(registry), f"{registry.url}/v2/acme/engine/manifests/v2"
        head, got = httpx.head(url, headers=held), httpx.get(url, headers=held)
        assert head.content == b""
        assert {**head.headers, "date": ""} == {**got.headers, "date": ""}
        assert got.headers["content-type"] == MANIFEST

    @pytest.mark.parametrize("method", ["GET", "HEAD"])
    def test_who_names_the_digest_is_told_that_nothing_changed(self, registry: LoopbackRegistry, method: str) -> None:
        held, url = token(registry), f"{registry.url}/v2/acme/engine/manifests/v1"
        digest = httpx.head(url, headers=held).headers["docker-content-digest"]
        assert httpx.head(url, headers=held).headers["etag"] == f'"{digest}"'
        for known, status in ((f'"{digest}"', 304), (digest, 304), (f'W/"{digest}"', 200), (f'"{DECLARED}"', 200)):
            again = httpx.request(method, url, headers={**held, "If-None-Match": known})
            assert (again.status_code, bool(again.content)) == (status, status == 200 and method == "GET")
        registry.push("acme/engine", "v1", image(20))
        assert httpx.request(method, url, headers={**held, "If-None-Match": f'"{digest}"'}).status_code == 200

    def test_a_declared_digest_is_shown_and_said_to_be_declared(self, registry: LoopbackRegistry) -> None:
        held = token(registry)
        top = httpx.get(f"{registry.url}/v2/acme/engine/manifests/v3", headers=held)
        assert top.headers["docker-content-digest"] == DECLARED != "sha256:" + hashlib.sha256(top.content).hexdigest()
        assert registry.declared == {DECLARED}
        assert httpx.get(f"{registry.url}/v2/acme/engine/manifests/{DECLARED}", headers=held).content == top.content

    def test_what_is_not_there_is_404(self, registry: LoopbackRegistry) -> None:
        held, base = token(registry), f"{registry.url}/v2/acme/engine"
        for path, code in (("manifests/v9", "MANIFEST_UNKNOWN"), ("blobs/sha256:" + "0" * 64, "BLOB_UNKNOWN")):
            answer = httpx.get(f"{base}/{path}", headers=held)
            assert (answer.status_code, answer.json()["errors"][0]["code"]) == (404, code)
        answer = httpx.get(f"{registry.url}/v2/acme/none/tags/list", headers=token(registry, "acme/none"))
        assert (answer.status_code, answer.json()["errors"][0]["code"]) == (404, "NAME_UNKNOWN")


class TestTagsInTime:
    def test_pages_are_linked_and_end(self, registry: LoopbackRegistry) -> None:
        held, seen = token(registry), []
        url: str | None = f"{registry.url}/v2/acme/engine/tags/list?n=2"
        while url:
            answer = httpx.get(url, headers=held)
            seen.append(answer.json()["tags"])
            url = f"{registry.url}{answer.links['next']['url']}" if "next" in answer.links else None
        assert seen == [["v1", "v2"], ["v3"]]

    def test_a_moved_tag_has_another_digest_and_the_old_one_stays_reachable(self, registry: LoopbackRegistry) -> None:
        held, url = token(registry), f"{registry.url}/v2/acme/engine/manifests/"
        before = httpx.head(f"{url}v1", headers=held).headers["docker-content-digest"]
        after = registry.push("acme/engine", "v1", image(20))
        assert httpx.head(f"{url}v1", headers=held).headers["docker-content-digest"] == after != before
        assert httpx.head(f"{url}{before}", headers=held).status_code == 200

    def test_the_hubs_page_tells_when_a_tag_was_pushed(self, registry: LoopbackRegistry) -> None:
        page = f"{registry.url}/v2/repositories/acme/engine/tags"
        assert httpx.get(f"{page}/v1").json()["tag_last_pushed"] == "2026-09-01T12:00:00Z"
        registry.push("acme/engine", "v1", image(20))
        assert httpx.get(f"{page}/v1").json()["tag_last_pushed"] == "2026-09-20T12:00:00Z"
        first = httpx.get(page, params={"page_size": 2}).json()
        assert [one["name"] for one in first["results"]] == ["v1", "v3"]
        assert [one["name"] for one in httpx.get(first["next"]).json()["results"]] == ["v2"]
        assert httpx.get(f"{page}/v9").status_code == 404

    def test_requests_are_counted_by_kind(self, registry: LoopbackRegistry) -> None:
        held = token(registry)
        httpx.head(f"{registry.url}/v2/acme/engine/manifests/v1", headers=held)
        httpx.get(f"{registry.url}/v2/acme/engine/manifests/v1", headers=held)
        httpx.get(f"{registry.url}/v2/acme/engine/manifests/v1", headers=held)
        assert (registry.counts["manifest-head"], registry.counts["manifest-get"], registry.counts["token"]) == (
            1,
            2,
            1,
        )


class TestOthersReadIt:
    def test_the_bots_adapter_resolves_an_image(self, registry: LoopbackRegistry) -> None:
        from bot.adapters.registry import OciRegistry
        from bot.errors import BadInput
        from bot.images.reference import parse

        clock = VirtualClock(datetime(2026, 9, 10, tzinfo=UTC))
        reader = OciRegistry(clock, override={"docker.io": registry.url})
        found = reader.resolve(parse("acme/engine:v1"))
        assert (found.kind, found.facts.cuda, found.labels["built-by"], len(found.platforms)) == (
            "index",
            "13.0.1",
            "acme",
            2,
        )
        assert reader.tags(parse("acme/engine")) == ("v1", "v2", "v3")
        with pytest.raises(BadInput, match="another digest"):
            reader.resolve(parse("acme/engine:v3"))
        trusting = OciRegistry(clock, override={"docker.io": registry.url}, trust_declared=True)
        assert trusting.resolve(parse("acme/engine:v3")).digest == DECLARED

    @pytest.mark.needs("skopeo")
    def test_skopeo_copies_an_image_out_of_it(self, registry: LoopbackRegistry, tmp_path: Path) -> None:
        source = f"docker://{registry.url.removeprefix('http://')}/acme/engine:v1"
        program = shutil.which("skopeo")
        assert program
        made = subprocess.run(
            [program, "copy", "--all", "--src-tls-verify=false", "--insecure-policy", source, f"dir:{tmp_path}/out"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        )
        assert made.returncode == 0, made.stderr
        assert (tmp_path / "out/manifest.json").is_file()
