"""Files made to cost time or memory, or that no editor would write: one line that names the file, at once."""

from __future__ import annotations

import time

import pytest

from bot.errors import BadInput
from bot.recipe.files import splice
from bot.recipe.files.document import Document, value

LAUGHS = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
HOSTILE = {
    "a hundred thousand brackets": b"a: " + b"[" * 100_000,
    "brackets that are closed": b"a: " + b"[" * 100_000 + b"]" * 100_000,
    "mappings in mappings": b"{a: " * 50_000,
    "indents in indents": b"".join(b" " * depth + b"a:\n" for depth in range(2_000)),
    "dashes in dashes": b"- " * 100_000 + b"x\n",
    "explicit keys in keys": b"? " * 50_000 + b"x\n",
    "a scalar of ten megabytes": b"a: " + b"x" * 10_000_000 + b"\n",
    "half a million values": b"a: [" + b"1," * 500_000 + b"]\n",
    "half a million documents": b"--- 1\n" * 500_000,
    "a value that holds itself": b"image: x\na: &a {b: [*a]}\n",
    "a list in itself": b"- &a [*a, x]\n",
    "an alias of nothing": b"image: *a\n",
    "an anchor twice": b"a: &a 1\nb: &a 2\n",
    "a zero byte": b"image: x\0y\n",
    "a bell": b"image: x\x07y\n",
    "no UTF-8": b"image: \xff\xfe\n",
    "UTF-16": "image: x\n".encode("utf-16"),
    "UTF-16 without its mark": "image: x\n".encode("utf-16-le"),
    "UTF-32": "image: x\n".encode("utf-32"),
    "half a surrogate": b"image: \xed\xa0\x80\n",
    "two byte order marks": b"\xef\xbb\xbf\xef\xbb\xbfimage: x\n",
    "a list as a key": b"image: x\n? [a, b]\n: 1\n",
    "a tab for an indent": b"a:\n\timage: x\n",
    "a quote that is open": b"image: 'x\n",
    "a tag of nobody": b"image: !e!x y\n",
    "two YAML directives": b"%YAML 1.1\n%YAML 1.1\n---\nimage: x\n",
}


class TestAFileThatIsRefused:
    @pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
    def test_costs_one_line_and_no_time(self, data: bytes) -> None:
        started = time.process_time()
        with pytest.raises(BadInput) as caught:
            splice.replace(data, "image", "x", "y", file="r.yaml")
        assert time.process_time() - started < 10
        assert str(caught.value).startswith("r.yaml") and len(str(caught.value)) < 200 and str(caught.value).isprintable()


class TestAFileThatOnlyLooksDear:
    def test_a_billion_laughs_are_not_laughed(self) -> None:
        """Its image can be edited, since nothing needs the rest; its values are refused."""
        data = LAUGHS.encode() + b"image: x\n"
        started = time.process_time()
        assert splice.replace(data, "image", "x", "z").data == LAUGHS.encode() + b"image: z\n"
        with pytest.raises(BadInput, match="unfold to too much"):
            value(Document(data, "r.yaml").roots[0])
        assert time.process_time() - started < 10

    def test_a_key_that_stands_twice_is_refused_where_the_path_goes_through_it_alone(self) -> None:
        assert splice.replace(b"a: {b: 1, b: 2}\nimage: x\n", "image", "x", "z").data.endswith(b"image: z\n")
        for data in (b"image: x\nimage: x\n", b"a: 1\nimage: x\na: 2\n", b"image: x\n'image': z\n", b"image: x\n? image\n: z\n"):
            with pytest.raises(BadInput, match="twice"):
                splice.replace(data, "image", "x", "y")

    def test_a_key_that_only_looks_the_same_is_another(self) -> None:
        assert splice.replace(b"1: a\n'1': b\nimage: x\n", "image", "x", "z").data == b"1: a\n'1': b\nimage: z\n"
