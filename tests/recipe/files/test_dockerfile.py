"""Dockerfiles: what of them is an image, and edits that change its bytes and no others."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import BadInput, Refusal
from bot.layout import Layout, load
from bot.recipe import edit
from bot.recipe.files.dockerfile import Dockerfile, is_dockerfile
from bot.recipe.sites import sites
from tests.recipe.conftest import MemoryTree

OLD, NEW = "vllm/vllm-openai:v0.25.0", "vllm/vllm-openai:v0.26.0"
DIGEST = "@sha256:" + "c" * 64


def layout(*paths: str, allow: str = "docker.io/vllm/vllm-openai") -> Layout:
    image = f", image: [{', '.join(paths)}]" if paths else ""
    return load(f"recipes: [{{files: Dockerfile, key: base{image}}}]\nallow: [{allow}]\n")


def moved(text: str | bytes, *paths: str, to: str = NEW) -> bytes:
    """The file after the edit."""
    data = text if isinstance(text, bytes) else text.encode()
    return edit.move(MemoryTree({"Dockerfile": data}), layout(*paths), ["base"], to).files.get("Dockerfile", data)


def images(text: str, *paths: str) -> list[str]:
    document = Dockerfile(text.encode(), "Dockerfile")
    return [named.text for path in paths or document.usual for named in document.images(path)]


class TestATagThatYamlWouldReadOtherwise:
    @pytest.mark.parametrize("tag", ["1e5", "1.20", "12e5678"])
    def test_gets_no_quotes_where_everything_is_text(self, tag: str) -> None:
        assert moved("ARG TAG=v1\nFROM vllm/vllm-openai:$TAG\n", to=f"vllm/vllm-openai:{tag}") == f"ARG TAG={tag}\nFROM vllm/vllm-openai:$TAG\n".encode()


class TestAFileIsOne:
    @pytest.mark.parametrize(("path", "is_one"), [
        ("Dockerfile", True), ("a/b/Dockerfile.cuda", True), ("docker/serving.Dockerfile", True), ("x.dockerfile", True),
        ("Containerfile", True), ("Dockerfile-rocm", True), ("vllm.Containerfile", True), ("dockerfile", True),
        ("Dockerfile.dockerignore", False), ("Dockerfile.yaml", False), ("deploy.yaml", False), ("Dockerfiles", False),
        ("my-dockerfile", False), ("Dockerfile/readme.md", False),
    ])
    def test_by_its_name(self, path: str, is_one: bool) -> None:
        assert is_dockerfile(path) is is_one


class TestTheImage:
    @pytest.mark.parametrize("text", [
        f"FROM {OLD}\n", f"from {OLD} as base", f"FROM --platform=$BUILDPLATFORM {OLD} AS base\nFROM base\nFROM scratch\n",
        f"# syntax=docker/dockerfile:1\n\n# a comment\nFROM \\\n  # between\n\n  {OLD} \\\n  AS base\n", f"\tFROM\t{OLD}\t\n",
        f"# escape=`\nFROM `\n {OLD}\n", f"ARG IMAGE={OLD}\nFROM ${{IMAGE}}\n", f"ARG IMAGE='{OLD}'\nFROM $IMAGE\n",
        f'ARG A=1 IMAGE="{OLD}"\nFROM "${{IMAGE}}"\n', f"ARG IMAGE\nFROM ${{IMAGE:-{OLD}}}\n",
        "ARG TAG=v0.25.0\nFROM vllm/vllm-openai:$TAG\n", "ARG V=0.25.0\nARG TAG=v$V\nARG I=vllm/vllm-openai:${TAG}\nFROM ${I}\n",
        f"FROM python:3.12 AS build\nFROM {OLD}\n", f"FROM scratch\nCOPY --chown=1 --from={OLD} /a /b\n",
        f"FROM {OLD}\nRUN <<EOF\nFROM other:1\nEOF\n", f"FROM {OLD}\nRUN cat <<-'A' <<B\n\tx\n\tA\nFROM y\nB\nCMD x\n",
        f"FROM {OLD} AS a\nCOPY --from=a x y\nCOPY --from=0 x y\n", f"ARG X=y\nFROM {OLD}\nARG TAG=1\nRUN echo $((1<<2)) it's <<no\n",
    ])
    def test_is_found_and_moves(self, text: str) -> None:
        assert sites(MemoryTree({"Dockerfile": text.encode()}), layout(), "base").image == OLD
        assert moved(text).decode() == text.replace("0.25.0", "0.26.0")

    def test_moves_wherever_it_is_taken_from(self) -> None:
        text = (f"FROM {OLD} AS a\nFROM {OLD} AS b\nCOPY --from={OLD} x y\nRUN --mount=type=bind,from={OLD},target=/x "
                "--mount=type=cache,target=/from=x true\nCOPY --from=ghcr.io/astral-sh/uv:0.8 /uv /bin/\n")
        assert moved(text).decode() == text.replace("v0.25.0", "v0.26.0")

    def test_is_named_by_stage_number_variable_or_instruction(self) -> None:
        text = f"ARG BASE={OLD}\nFROM python:3.12 AS build\nFROM $BASE AS Serve\nFROM serve\nCOPY --from=a/b:1 x y\n"
        assert images(text, ".FROM") == ["python:3.12", OLD] and images(text) == ["python:3.12", OLD, "a/b:1"]
        assert images(text, ".FROM[0]", ".FROM.build", ".FROM.1") == ["python:3.12", "python:3.12", OLD]
        assert images(text, ".FROM.serve", ".ARG.BASE", ".COPY[0]", ".COPY") == [OLD, OLD, "a/b:1", "a/b:1"]
        assert images(text, ".FROM[2]", ".FROM.other", ".RUN", ".name", ".ARG.OTHER") == []

    def test_lets_the_other_stages_be_when_one_is_named(self) -> None:
        text = f"FROM {OLD} AS a\nFROM {OLD} AS b\n"
        assert moved(text, ".FROM.b").decode() == f"FROM {OLD} AS a\nFROM {NEW} AS b\n"


class TestTheBytes:
    @pytest.mark.parametrize("data", [
        f"FROM {OLD}\r\nRUN true\r\n".encode(), b"\xef\xbb\xbf" + f"FROM {OLD}\n".encode(), f"FROM {OLD}".encode(),
        f"# 基础镜像 ünïcode\nLABEL x='界'\nFROM {OLD} AS 界\n".encode(), f"FROM {OLD}   \t\n\n\n".encode(),
        f"ARG\tX={OLD}\r\n\r\n# c\r\nFROM `\r\n".encode().replace(b"`", b"${X}"),
    ])
    def test_around_the_image_stay_and_undoing_gives_them_back(self, data: bytes) -> None:
        there = moved(data, to=NEW + DIGEST)
        assert there == data.replace(OLD.encode(), (NEW + DIGEST).encode()) != data
        assert moved(there, to=OLD) == data

    PART = st.sampled_from([
        "# {}\n", "\n", "RUN echo '{}' \\\n  # {}\n  && true\n", "LABEL x=\"{}\"\n", "RUN <<EOF\nFROM {}\nEOF\n", "COPY {} /x\n",
        "ENV IMAGE={}\n", "COPY --from=0 {} /x\n", "ONBUILD RUN echo {}\n", "ARG LATER={}\n", "SHELL [\"{}\"]\n"])
    HEAD = st.sampled_from(["FROM {}\n", "ARG B={}\nFROM $B\n", "ARG B=\"{}\"\nFROM ${{B}} AS x\n", "from --platform=a/b \\\n {} as x\n",
                            "ARG B\nFROM ${{B:-{}}}\n"])

    @given(head=HEAD, parts=st.lists(PART, max_size=6), end=st.sampled_from(["\n", "\r\n"]), cut=st.booleans())
    def test_of_any_file_stay_where_no_instruction_names_the_image(self, head: str, parts: list[str], end: str, cut: bool) -> None:
        def file(image: str) -> bytes:
            text = head.format(image) + "".join(part.replace("{}", OLD) for part in parts)
            return (text.replace("\n", end).removesuffix(end) if cut else text.replace("\n", end)).encode()

        assert moved(file(OLD)) == file(NEW) and moved(file(NEW), to=OLD) == file(OLD)


class TestAnImageInParts:
    @pytest.mark.parametrize(("text", "to", "made"), [
        ("ARG T=v1\nFROM a/b:$T\n", "a/b:v2", "ARG T=v2\nFROM a/b:$T\n"),
        ("ARG R=a/b\nFROM $R:v1\n", "c/d:v1", "ARG R=c/d\nFROM $R:v1\n"),
        ("ARG V=1.2\nFROM a/b:v${V}-cu130\n", "a/b:v1.3-cu130", "ARG V=1.3\nFROM a/b:v${V}-cu130\n"),
        (f"ARG T=v1 D={DIGEST[1:]}\nFROM a/b:$T@$D\n", "a/b:v2@sha256:" + "d" * 64, f"ARG T=v2 D=sha256:{'d' * 64}\nFROM a/b:$T@$D\n"),
    ])
    def test_moves_in_the_part_that_holds_what_changes(self, text: str, to: str, made: str) -> None:
        assert moved(text, to=to).decode() == made

    @pytest.mark.parametrize(("text", "to", "why"), [
        ("ARG T=v1\nFROM a/b:$T\n", "a/c:v2", "Dockerfile:1: a/c:v2 does not fit a/b:<ARG.T>"),
        ("ARG T=v1\nFROM a/b:$T\n", "a/b:v2" + DIGEST, "does not fit a/b:<ARG.T>"),
        ("ARG V=1.2\nFROM a/b:v$V-cu130\n", "a/b:v1.3-cu129", "does not fit"),
        ("ARG V=1 C=2\nFROM a/b:$V-$C\n", "a/b:3-rc1-4", "fits in two ways into a/b:<ARG.V>-<ARG.C>"),
        ("ARG V=1 C=2\nFROM a/b:$V$C\n", "a/b:34", "Dockerfile:1: a/b:12 is pieced together too finely"),
        ("ARG T=v1\nFROM a/b:$T AS x\nFROM a/b:$T-cpu AS y\n", "a/b:v2",
         "Dockerfile:1: ARG.T is a part of a/b:v1 and of a/b:v1-cpu"),
        ("ARG T=v1\nFROM a/b:$T\nFROM a/c:$T\n", "a/b:v2", "is a part of a/b:v1 and of a/c:v1"),
    ])
    def test_is_refused_where_no_part_or_more_than_one_thing_would_change(self, text: str, to: str, why: str) -> None:
        with pytest.raises(Refusal) as caught:
            moved(text, ".FROM.0", to=to)
        assert why in str(caught.value)

    def test_is_not_asked_for_by_one_of_them(self) -> None:
        with pytest.raises(BadInput, match=r"Dockerfile:1: TAG: this ARG is a part of an image: name \.FROM\.0"):
            images("ARG TAG=v1\nFROM a/b:$TAG\n", ".ARG.TAG")


class TestAFault:
    @pytest.mark.parametrize(("text", "said"), [
        ("RUN true\n", "Dockerfile: there is no FROM"), ("", "Dockerfile: there is no FROM"),
        ("FROM a\n\nFORM b\n", "Dockerfile:3: 'FORM' is no instruction"), ("FROM a b\n", "Dockerfile:1: a FROM that no builder takes"),
        ("FROM a # why\n", "Dockerfile:1: a FROM that no builder takes"), ("FROM a\nRUN <<X\ny\n", "Dockerfile:2: the text that <<X begins"),
        ("# escape=x\nFROM a\n", "Dockerfile:1: the escape character 'x'"), ("ARG =1\nFROM a\n", "Dockerfile:1: an ARG that no builder takes"),
        ("{{ base }}\n", "Dockerfile:1: '{{' is no instruction"),
    ])
    def test_of_the_file_is_one_line_with_its_place(self, text: str, said: str) -> None:
        with pytest.raises(BadInput) as caught:
            Dockerfile(text.encode(), "Dockerfile")
        assert str(caught.value).startswith(said) and "\n" not in str(caught.value)

    @pytest.mark.parametrize(("text", "said"), [
        ("ARG X\nFROM $X\n", "Dockerfile:1: ARG X has no default"), ("FROM $X\n", "Dockerfile:1: X has no value in this file"),
        ("FROM a\nARG X=b\nFROM $X\n", "Dockerfile:3: X has no value"), ("ARG X=1\nARG X=2\nFROM a:$X\n", "Dockerfile:2: ARG X stands twice"),
        ("ARG X=a\nFROM ${X#b}\n", "Dockerfile:2: ${X#b} is filled in by other rules"), ("FROM a/\\\nb:1\n", "Dockerfile:1: a/b:1 is broken over"),
        ("ARG X=a\nFROM '${X}'\n", "Dockerfile:2: '${X}' is filled in nowhere"), ("FROM a\\:b\n", "Dockerfile:1: a\\:b is no plain text"),
        ("FROM a:${TARGETARCH}\n", "Dockerfile:1: TARGETARCH has no value in this file"),
    ])
    def test_of_an_image_is_told_when_that_image_is_asked_for(self, text: str, said: str) -> None:
        number = text[:text.rindex("FROM")].count("FROM")
        with pytest.raises(BadInput) as caught:
            images(text, f".FROM[{number}]")
        assert str(caught.value).startswith(said)

    def test_of_one_stage_does_not_hide_the_others(self) -> None:
        assert images(f"FROM $GIVEN AS x\nFROM {OLD}\n", ".FROM") == [OLD]

    def test_of_several_images_names_the_paths_to_write(self) -> None:
        tree: Any = MemoryTree({"Dockerfile": b"FROM vllm/vllm-openai:v1 AS a\nFROM vllm/vllm-openai:v2\n"})
        with pytest.raises(BadInput, match=r"has several of them: vllm/vllm-openai:v1 at \.FROM\.0, vllm/vllm-openai:v2 at \.FROM\.1"):
            sites(tree, layout(), "base")
        assert sites(tree, layout(".FROM.a"), "base").image == "vllm/vllm-openai:v1"

    @pytest.mark.parametrize(("data", "said"), [
        (b"FROM a\n" + b"#" * 1_000_001, "larger than"), (b"FROM a\n" * 300, "Dockerfile:251: more than 500 places of images"),
        (b"ARG A0=x\n" + b"".join(b"ARG A%d=$A%d$A%d\n" % (n, n - 1, n - 1) for n in range(1, 40)) + b"FROM $A39\n",
         "Dockerfile:7: an image made of too many parts"),
    ])
    def test_of_size_is_told(self, data: bytes, said: str) -> None:
        with pytest.raises(BadInput, match=said):
            Dockerfile(data, "Dockerfile").images(".FROM")
