"""What a reference says, what it refuses, and that its text survives."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import BadInput
from bot.images.reference import canonical, parse, same, valid_digest, with_digest, with_style

SNAPSHOT = Path(__file__).parents[3] / "shared" / "inferencex" / "snapshot"
DIGEST = "sha256:" + "0a" * 32
OTHER = "sha256:" + "b1" * 32

LABELS = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?", fullmatch=True)
HOSTS = st.builds(lambda labels, port: ".".join(labels) + port, st.lists(LABELS, min_size=2, max_size=3),
                  st.sampled_from(["", ":5000"]))
PATHS = st.lists(st.from_regex(r"[a-z0-9]{1,6}((\.|_|__|-{1,2})[a-z0-9]{1,4}){0,2}", fullmatch=True), min_size=1, max_size=3)
TAGS = st.none() | st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,20}", fullmatch=True)
DIGESTS = st.none() | st.sampled_from([DIGEST, OTHER])
NAMES = st.builds(lambda host, mark, path: f"{host}{mark}{'/'.join(path)}", HOSTS, st.sampled_from("/#"), PATHS)
TEXTS = st.builds(lambda name, tag, digest: name + (f":{tag}" if tag else "") + (f"@{digest}" if digest else ""),
                  NAMES, TAGS, DIGESTS)


class TestParts:
    @pytest.mark.parametrize(("text", "registry", "repository", "tag", "style"), [
        ("vllm/vllm-openai:v0.25.1", "docker.io", "vllm/vllm-openai", "v0.25.1", "docker"),
        ("ubuntu", "docker.io", "library/ubuntu", None, "docker"),
        ("docker.io/ubuntu:24.04", "docker.io", "library/ubuntu", "24.04", "docker"),
        ("index.docker.io/rocm/atom:x", "docker.io", "rocm/atom", "x", "docker"),
        ("registry-1.docker.io/rocm/atom", "docker.io", "rocm/atom", None, "docker"),
        ("localhost/a:1", "localhost", "a", "1", "docker"),
        ("localhost:5000/a/b:1", "localhost:5000", "a/b", "1", "docker"),
        ("127.0.0.1:5000/a", "127.0.0.1:5000", "a", None, "docker"),
        ("[::1]:5000/a/b", "[::1]:5000", "a/b", None, "docker"),
        ("GHCR.IO/x/y:1", "ghcr.io", "x/y", "1", "docker"),
        ("nvcr.io#nvidia/tensorrt-llm/release:1.3.0rc18", "nvcr.io", "nvidia/tensorrt-llm/release", "1.3.0rc18", "enroot"),
        ("docker.io#ubuntu", "docker.io", "library/ubuntu", None, "enroot"),
        ("localhost:5000#a:1", "localhost:5000", "a", "1", "enroot"),
    ])
    def test_are_taken_apart(self, text, registry, repository, tag, style):
        found = parse(text)
        assert (found.registry, found.repository, found.tag, found.style) == (registry, repository, tag, style)
        assert found.text == str(found) == text

    def test_tag_and_digest_stand_together(self):
        found = parse(f"quay.io/a/b:vllm0.26@{DIGEST}")
        assert (found.tag, found.digest) == ("vllm0.26", DIGEST)
        assert parse(f"a/b@{DIGEST}").tag is None

    def test_a_port_is_no_tag_and_a_tag_is_no_port(self):
        assert parse("host.example:5000/a").tag is None
        assert parse("a:5000").tag == "5000"
        assert parse("a:5000").registry == "docker.io"


class TestRefusals:
    @pytest.mark.parametrize(("text", "said"), [
        ("", "empty"),
        ("a b/c:1", "U+0020"),
        ("a/b:ü", "U+00FC"),
        ("docker://a/b:1", "docker://"),
        ("a/B:1", "lower-case"),
        ("a//b:1", "empty part"),
        ("a/b/:1", "empty part"),
        ("/a/b", "empty part"),
        ("a/b:", "colon without a tag"),
        ("a/b:-x", "the tag `-x`"),
        ("a/b:" + "x" * 129, "129 characters"),
        ("a/b@", "without a digest"),
        ("user@a/b:1", "a user before"),
        ("a/b@md5:00", "md5"),
        ("a/b@sha256:00", "64"),
        ("a/b@sha256:" + "G" * 64, "64"),
        (f"a/b@{DIGEST}@{DIGEST}", "second digest"),
        ("nvcr.io#a#b", "more than one"),
        ("nvcr.io#", "no repository"),
        ("#a/b", "the registry ``"),
        ("bad_host.io#a/b", "the registry `bad_host.io`"),
        ("host.example:70000/a", "the port 70000"),
        ("host.example:0/a", "the port 0"),
        ("host.example/", "no repository"),
        ("a/" + "b" * 300, "longer than 255"),
        ("a/b:1" + "0" * 2000, "2005 characters"),
        ("a/-b", "the repository part `-b`"),
    ])
    def test_name_what_is_wrong(self, text, said):
        with pytest.raises(BadInput) as caught:
            parse(text)
        assert said in str(caught.value)
        assert caught.value.hint

    @given(st.text(max_size=60))
    def test_are_the_only_way_to_fail(self, text):
        try:
            found = parse(text)
        except BadInput:
            return
        assert found.text == text


class TestRoundTrips:
    @given(TEXTS)
    def test_the_text_survives_and_the_canonical_form_is_a_fixed_point(self, text):
        found = parse(text)
        assert found.text == text
        again = parse(canonical(found))
        assert canonical(again) == canonical(found)
        assert (again.registry, again.repository, again.digest) == (found.registry, found.repository, found.digest)

    @given(TEXTS, st.sampled_from([DIGEST, OTHER]))
    def test_a_digest_is_put_on_and_taken_off(self, text, digest):
        found = parse(text)
        pinned = with_digest(found, digest)
        assert (pinned.digest, pinned.tag, pinned.style) == (digest, found.tag, found.style)
        assert with_digest(pinned, None).text == text.partition("@")[0]

    @given(TEXTS, TEXTS)
    def test_a_style_is_taken_over_and_the_image_stays_the_same(self, text, model):
        spelt = with_style(parse(text), parse(model))
        assert same(spelt, parse(text)) or parse(text).tag is None
        assert spelt.style == parse(model).style

    def test_both_spellings_of_one_image_are_the_same_and_two_strings(self):
        one, other = parse("nvcr.io#nvidia/x:1"), parse("nvcr.io/nvidia/x:1")
        assert same(one, other) and one.text != other.text
        assert with_style(one, other).text == other.text and with_style(other, one).text == one.text
        assert with_style(parse("docker.io/a/b:1"), parse("c/d:2")).text == "a/b:1"
        assert not same(parse("a/b:1"), parse("a/b:2"))
        assert same(parse("a/b"), parse("docker.io/a/b:latest"))

    @pytest.mark.parametrize("digest", ["sha256:" + "A" * 64, "sha256:" + "a" * 63, "sha1:" + "a" * 40, "", "sha256"])
    def test_half_a_digest_is_none(self, digest):
        assert not valid_digest(digest)


@pytest.mark.skipif(not SNAPSHOT.is_dir(), reason="the recorded repository lies beside the checkout and is absent")
class TestTheRecordedRepository:
    def test_every_one_of_its_references_parses(self):
        lines = [line for file in sorted((SNAPSHOT / "configs").glob("*-master.yaml"))
                 for line in file.read_text(encoding="utf-8").splitlines()]
        found = [match[1].strip('"') for line in lines if (match := re.fullmatch(r"  image: *(\S+)", line))]
        assert len(found) == 208 and len(set(found)) == 94
        parsed = [parse(text) for text in found]
        assert sum(reference.style == "enroot" for reference in parsed) == 17
        assert sum(reference.digest is not None for reference in parsed) == 6
