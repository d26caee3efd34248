"""The registry client against a registry that behaves, and many that lie."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from bot.adapters.registry import OciRegistry
from bot.errors import BadInput, Refusal, Unreachable
from bot.images.reference import parse
from tests.adapters.fake_registry import INDEX, LABELS, MANIFEST, document, sha


def client(clock, **options) -> OciRegistry:
    return OciRegistry(clock, **options)


class TestResolving:
    def test_an_index_tells_digest_platforms_labels_and_facts(self, registry, clock):
        digest = registry.index("v1")
        found = client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))
        assert (found.kind, found.digest, found.identity) == ("index", digest, "anonymous")
        assert [(p.os, p.architecture) for p in found.platforms] == [("linux", "amd64"), ("linux", "arm64")]
        assert all(sha(registry.manifests[p.digest][1]) == p.digest and p.size == len(registry.manifests[p.digest][1])
                   for p in found.platforms)
        assert found.labels == LABELS and found.created == datetime(2026, 8, 17, 9, 30, 0, 123456, tzinfo=UTC)
        assert (found.facts.cuda, found.facts.rocm, found.facts.arch_list) == ("13.0.1", None, "9.0 10.0a")
        assert found.facts.commit == LABELS["org.opencontainers.image.revision"] and found.provenance == "label"

    def test_asks_head_first_and_names_all_four_types(self, registry, clock):
        registry.index("v1")
        client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))
        first = registry.asked[0]
        assert (first.method, first.path) == ("HEAD", "/v2/a/b/manifests/v1")
        assert first.headers["accept"].count("application/vnd.") == 4
        assert [a.method for a in registry.asked] == ["HEAD", "GET", "GET", "GET"]

    def test_the_digest_alone_costs_one_head(self, registry, clock):
        # BR046
        digest = registry.index("v1")
        assert client(clock).digest(parse(f"{registry.netloc}/a/b:v1")) == digest
        assert [(asked.method, asked.path) for asked in registry.asked] == [("HEAD", "/v2/a/b/manifests/v1")]

    def test_a_single_manifest_tells_its_platform_from_its_config(self, registry, clock):
        registry.names["rocm"] = registry.image("arm64", labels={}, env=["ROCM_VERSION=7.2.0", "PYTORCH_ROCM_ARCH=gfx950"])
        found = client(clock).resolve(parse(f"{registry.netloc}/a/b:rocm"))
        assert (found.kind, found.platforms[0].architecture, found.platforms[0].digest) == ("manifest", "arm64", found.digest)
        assert (found.facts.rocm, found.facts.arch_list, found.facts.commit) == ("7.2.0", "gfx950", None)
        assert found.provenance == "none"

    def test_a_digest_is_asked_for_instead_of_the_tag(self, registry, clock):
        digest = registry.index("v1")
        registry.index("v2", ("arm64",))
        found = client(clock).resolve(parse(f"{registry.netloc}/a/b:v2@{digest}"))
        assert found.digest == digest and registry.asked[0].path.endswith(digest)

    def test_attestations_are_no_platforms_and_children_not_served_leave_the_others(self, registry, clock):
        # BR013
        gone = registry.child("sha256:" + "9" * 64, "amd64")
        attestation = registry.child(registry.image(), "unknown", "unknown")
        registry.index("v1", ("arm64",), extra=(gone, attestation))
        found = client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))
        assert [p.architecture for p in found.platforms] == ["arm64", "amd64"]
        assert found.facts.cuda == "13.0.1"

    def test_no_child_served_leaves_the_facts_unknown(self, registry, clock):
        registry.index("v1", (), extra=(registry.child("sha256:" + "9" * 64, "amd64"),))
        found = client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))
        assert found.created is None and found.facts.cuda is None and len(found.platforms) == 1

    @pytest.mark.parametrize("status", [405, 200])
    def test_a_registry_without_digests_on_head_is_asked_for_the_content(self, registry, clock, status):
        digest = registry.index("v1")
        registry.before = lambda asked: (status, {}, b"") if asked.method == "HEAD" else None
        assert client(clock).resolve(parse(f"{registry.netloc}/a/b:v1")).digest == digest

    def test_labels_without_end_are_cut_and_the_ones_that_matter_stay(self, registry, clock):
        many = {f"a{number}": "x" * 100 for number in range(5_000)} | {"k" * 100_000: "long"}
        registry.names["v1"] = registry.image(labels={**many, **LABELS})
        found = client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))
        assert found.labels.items() >= LABELS.items() and sum(map(len, (*found.labels, *found.labels.values()))) <= 65_536

    @pytest.mark.parametrize("created", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59-12:00", "yesterday", 7, None])
    def test_labels_of_another_type_and_times_that_are_none_are_unknown(self, registry, clock, created):
        config = document({"created": created, "os": "linux", "architecture": "amd64",
                           "config": {"Env": None, "Labels": {"a": 1, "b": "x"}}})
        registry.blobs[sha(config)] = config
        registry.names["v1"] = registry.put(MANIFEST, {"mediaType": MANIFEST, "config": {"digest": sha(config)}})
        found = client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))
        assert found.created is None and found.labels == {"b": "x"}


class TestPushTimes:
    def test_come_from_the_hubs_tag_page_of_an_overridden_registry(self, registry, clock):
        registry.index("v1")
        registry.before = lambda asked: (200, {}, document({"tag_last_pushed": "2026-09-03T10:00:00Z"})) if (
            asked.path == "/v2/repositories/a/b/tags/v1") else None
        found = client(clock, override={"docker.io": registry.url}).resolve(parse("a/b:v1"))
        assert found.pushed == datetime(2026, 9, 3, 10, tzinfo=UTC) and found.reference.registry == "docker.io"

    def test_are_unknown_where_nobody_tells_them(self, registry, clock):
        registry.index("v1")
        assert client(clock, override={"docker.io": registry.url}).resolve(parse("a/b:v1")).pushed is None
        assert client(clock).resolve(parse(f"{registry.netloc}/a/b:v1")).pushed is None
        registry.before = lambda asked: (500, {}, b"") if "repositories" in asked.path else None
        assert client(clock, override={"docker.io": registry.url}).resolve(parse("a/b:v1")).pushed is None

    def test_an_override_off_loopback_is_refused(self, clock):
        with pytest.raises(Refusal, match="not on loopback"):
            client(clock, override={"docker.io": "http://198.51.100.7"}).resolve(parse("a/b:v1"))


class TestLies:
    def test_a_body_of_another_digest_is_not_believed(self, registry, clock):
        # BR015
        digest = registry.index("v1")
        kind, body = registry.manifests[digest]
        registry.manifests[digest] = (kind, body + b" ")
        with pytest.raises(BadInput, match="has another digest"):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))

    def test_a_digest_declared_by_a_rehearsal_is_taken_when_the_switch_says_so(self, registry, clock):
        digest = registry.index("v1")
        declared = "sha256:" + "42" * 32
        registry.manifests[declared], registry.names["v1"] = registry.manifests[digest], declared
        assert client(clock, trust_declared=True).resolve(parse(f"{registry.netloc}/a/b:v1")).digest == declared
        with pytest.raises(BadInput, match="has another digest"):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))

    def test_a_config_of_another_digest_is_not_believed(self, registry, clock):
        registry.index("v1")
        registry.blobs = {digest: body + b" " for digest, body in registry.blobs.items()}
        with pytest.raises(BadInput, match="has another digest"):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))

    @pytest.mark.parametrize(("media", "body"), [("text/html", b"<html>Log in</html>"), ("application/json", b'{"errors": []}')])
    def test_a_login_page_is_no_image_and_has_no_digest(self, registry, clock, media, body):
        # BR015
        registry.before = lambda asked: (200, {"Content-Type": media, "Docker-Content-Digest": sha(body)}, body)
        for question in ("digest", "resolve"):
            with pytest.raises(BadInput, match="not JSON|the manifest type"):
                getattr(client(clock), question)(parse(f"{registry.netloc}/a/b:v1"))

    @pytest.mark.parametrize("header", ["md5:" + "0" * 32, "shake_128:00", "sha384:" + "0" * 96, "sha256:short", "sha256:" + "0" * 64 + ", x"])
    def test_a_digest_of_an_algorithm_nobody_checks_is_none(self, registry, clock, header):
        digest = registry.index("v1")
        kind, body = registry.manifests[digest]
        registry.before = lambda asked: (200, {"Content-Type": kind, "Docker-Content-Digest": header}, body)
        assert client(clock).digest(parse(f"{registry.netloc}/a/b:v1")) == digest

    def test_an_index_of_many_children_that_are_not_there_ends_after_five(self, registry, clock):
        gone = tuple(registry.child(f"sha256:{number:064x}", "amd64") for number in range(200))
        registry.index("v1", (), extra=gone)
        found = client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))
        assert len(found.platforms) == 200 and found.created is None and len(registry.asked) == 2 + 5

    def test_an_index_of_more_children_than_there_are_platforms_is_not_believed(self, registry, clock):
        registry.index("v1", (), extra=tuple(registry.child(f"sha256:{number:064x}", "amd64") for number in range(201)))
        with pytest.raises(BadInput, match="at most 200 platforms"):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))

    def test_an_index_whose_child_is_an_index_is_no_image(self, registry, clock):
        inner = registry.index("inner", ())
        registry.index("v1", (), extra=(registry.child(inner, "amd64"),))
        with pytest.raises(BadInput, match="without a config"):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))

    def test_another_digest_than_asked_for_is_not_believed(self, registry, clock):
        digest = registry.index("v1")
        registry.before = lambda asked: (200, {"Docker-Content-Digest": "sha256:" + "1" * 64}, b"")
        with pytest.raises(BadInput, match="asked for"):
            client(clock).resolve(parse(f"{registry.netloc}/a/b@{digest}"))

    def test_what_is_index_and_image_at_once_is_not_believed(self, registry, clock):
        registry.names["v1"] = registry.put(INDEX, {"mediaType": INDEX, "manifests": [], "config": {}})
        with pytest.raises(BadInput, match="at once"):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))

    def test_other_types_of_manifest_are_named(self, registry, clock):
        registry.names["v1"] = registry.put("application/vnd.docker.distribution.manifest.v1+prettyjws", {"schemaVersion": 1})
        with pytest.raises(BadInput, match="prettyjws"):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))

    @pytest.mark.parametrize(("body", "said"), [
        (b'{"mediaType": "' + INDEX.encode() + b'", "manifests": {}}', "not a list"),
        (b'{"mediaType": "' + INDEX.encode() + b'", "manifests": [{"platform": {"os": "linux", "architecture": "amd64"}}]}',
         "without digest"),
        (b'{"mediaType": "' + MANIFEST.encode() + b'"}', "without a config"),
        (b"[" * 100_000, "nested too deeply|not JSON"),
        (b'{"a": 1, "a": 2}', "twice"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": ' + b"9" * 5000 + b"}", "too long"),
        (b"\xff\xfe", "UTF-8"),
        (b"[]", "not a manifest"),
    ])
    def test_content_of_another_shape_is_bad_input(self, registry, clock, body, said):
        registry.manifests[sha(body)], registry.names["v1"] = (INDEX, body), sha(body)
        with pytest.raises(BadInput, match=said):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))

    def test_ten_megabytes_are_not_read(self, registry, clock):
        body = document({"mediaType": INDEX, "manifests": [], "annotations": {"x": "y" * 10_000_000}})
        registry.manifests[sha(body)], registry.names["v1"] = (INDEX, body), sha(body)
        with pytest.raises(BadInput, match="at most|more than"):
            client(clock).resolve(parse(f"{registry.netloc}/a/b:v1"))

    def test_a_slow_body_ends_with_its_time(self, registry, clock):
        registry.index("v1")
        with pytest.raises(Unreachable, match="too slowly"):
            client(clock, total_s=0).resolve(parse(f"{registry.netloc}/a/b:v1"))


def test_the_fake_serves_what_it_says(registry):
    digest = registry.index("v1")
    assert json.loads(registry.manifests[digest][1])["mediaType"] == INDEX
