"""YAML made up, with images in odd places: whole texts in which it is known, without parsing, where the sites are.

A text holds marks: SITE where the edit must write, ELSE where the same image stands and must stay (a comment,
a block of text, another key). `{i}` is the indent of the block it stands in.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from msgspec import Struct

SITE, ELSE = "\ue000", "\ue001"
LONG = "x" * 900


class Made(Struct, frozen=True, kw_only=True):
    """A file with its sites: (document, path, what stands before the image in the scalar, as in `NAME=image`)."""

    text: str
    sites: tuple[tuple[int, tuple[str | int, ...], str], ...]
    crlf: bool
    bom: bool
    final: bool

    def data(self, at_sites: str, elsewhere: str) -> bytes:
        text = self.text if self.final else self.text.rstrip("\n")
        text = text.replace("\n", "\r\n") if self.crlf else text
        return (("\ufeff" if self.bom else "") + text.replace(SITE, at_sites).replace(ELSE, elsewhere)).encode()


# One site below a key of its own: (lines behind `key:`, the rest of the path, what stands before the image).
BLOCKS: list[tuple[str, tuple[str | int, ...], str]] = [
    ("\n{i}image: " + SITE + "\n", ("image",), ""),
    ("\n{i}image: '" + SITE + "'\n", ("image",), ""),
    ('\n{i}image: "' + SITE + '"\n', ("image",), ""),
    ("\n{i}image:   " + SITE + "   # was " + ELSE + ", é 😀\n", ("image",), ""),
    ("\n{i}a: 1\n{i}image : " + SITE + "\n{i}b: 2\n", ("image",), ""),
    ("\n{i}'image': " + SITE + "\n{i}\"other\": " + ELSE + "\n", ("image",), ""),
    ("\n{i}image: &pin{n} " + SITE + "\n", ("image",), ""),
    ("\n{i}image: !!str " + SITE + "\n", ("image",), ""),
    ("\n{i}image: &pin{n} !!str '" + SITE + "'\n", ("image",), ""),
    ("\n{i}image: !custom \"" + SITE + "\"\n", ("image",), ""),
    ("\n{i}image:\n{i}  " + SITE + "\n", ("image",), ""),
    ("\n{i}image:\n{i}    # " + ELSE + "\n{i}    '" + SITE + "'\n", ("image",), ""),
    ("\n{i}image: >-\n{i}  " + SITE + "\n", ("image",), ""),
    ("\n{i}image: |-\n{i}   " + SITE + "\n\n{i}z: |\n{i}  " + ELSE + "\n", ("image",), ""),
    ("\n{i}image: >+2\n{i}  " + SITE + "\n", ("image",), ""),
    ("\n{i}image: |  # " + ELSE + "\n{i}  " + SITE + "\n", ("image",), ""),
    ("\n{i}? image\n{i}: " + SITE + "\n", ("image",), ""),
    ("\n{i}? a\n{i}image: " + SITE + "\n", ("image",), ""),
    (" {a: 1, image: " + SITE + ", b: [x, {c: d}]}\n", ("image",), ""),
    (" {image: '" + SITE + "' }  # " + ELSE + "\n", ("image",), ""),
    (' {"image":"' + SITE + '","other":"' + ELSE + '"}\n', ("image",), ""),
    (" {a: 1,\n{i}image: " + SITE + ",\n{i}# " + ELSE + "\n{i}b: 2}\n", ("image",), ""),
    (" [ {image: " + SITE + "}, {image: " + ELSE + "-x} ]\n", (0, "image"), ""),
    ("\n{i}- n: 1\n{i}  image: " + SITE + "\n{i}- n: 2\n", (0, "image"), ""),
    ("\n{i}- - image: " + SITE + "\n", (0, 0, "image"), ""),
    ("\n{i}- A=1\n{i}- PREFILL_IMAGE=" + SITE + "\n{i}- B=" + ELSE + "\n", (1,), "PREFILL_IMAGE="),
    ("\n{i}- \"PREFILL_IMAGE=" + SITE + "\"  # c\n", (0,), "PREFILL_IMAGE="),
    (" [ 'A=1', 'PREFILL_IMAGE=" + SITE + "' ]\n", (1,), "PREFILL_IMAGE="),
    ("\n{i}<<: {a: 1, b: " + ELSE + "}\n{i}image: " + SITE + "\n", ("image",), ""),
    (" &all{n}\n{i}image: " + SITE + "\n{i}b: &b{n} [1]\n{i}c: *b{n}\n", ("image",), ""),
    (" !!map\n{i}image: " + SITE + "\n", ("image",), ""),
    ("\n{i}" + LONG + ": " + LONG + "\n{i}image: " + SITE + "\n", ("image",), ""),
]
# What may stand between them.
FILLERS = [
    "", "\n", "   \n", "# " + ELSE + "\n", "# ü 漢字 😀\U0001f9ea\n", "#\timage: " + ELSE + "\n", "  # indented: " + ELSE + "\n",
    "text{n}: |\n  image: " + ELSE + "\n\n  # no comment\n", "fold{n}: >\n  a: " + ELSE + "\n  b\n\n\n", "keep{n}: |+\n  a\n\n",
    "plain{n}: words that\n  go on\n\n  and on\n", "quoted{n}: 'image:\n  " + ELSE + "\n\n  it''s'\n",
    "double{n}: \"image: " + ELSE + " \\\n  \\\"x\\\" \\u00e9\"\n", "other{n}: [1, {a: b}, 'x: y'] # x\n", "k{n}: {a: [], b: {}}\n",
    "image{n}: " + ELSE + "\n", '"' + ELSE + '{n}": 1\n', "? " + ELSE + "{n}\n: 2\n", "empty{n}:\n", "é😀{n}: \U0001f9ea\n",
    "anchor{n}: &a{n} {x: " + ELSE + "}\nalias{n}: *a{n}\nmerged{n}:\n  <<: *a{n}\n  y: 1\n", "long{n}: " + LONG + "\n",
    "traps{n}: [no, 0o7, 1e3, .5, 1:30, 2001-01-01, ~, =, '<<']\n", "tagged{n}: !x/y [ !!str 1, !!binary aGk= ]\n", "{n}: 1\n1.{n}: 2\n",
    "a.b{n}: " + ELSE + "\n", "nbsp{n}: a\u00a0b\n", "nel{n}: \"a\u2028b\"\n", "list{n}:\n- image: " + ELSE + "\n-\n- x\n",
]
DOCUMENTS = ["---\n", "...\n---\n", "--- # " + ELSE + "\n", "...\n# between\n---\n", "--- !!map\n"]
HEADS = ["", "---\n", "# head: " + ELSE + "\n---\n", "%YAML 1.1\n---\n", "\n\n# é\n"]
ENDS = ["", "...\n", "# last " + ELSE + "\n", "\n\n"]


@st.composite
def files(draw: st.DrawFn) -> Made:
    """One to three documents with one to three sites in all."""
    number = 0
    text = draw(st.sampled_from(HEADS))
    sites: list[tuple[int, tuple[str | int, ...], str]] = []
    count = draw(st.integers(1, 3))
    for document in range(count):
        text += f"{draw(st.sampled_from(DOCUMENTS)) if document else ''}start: {document}\n"
        parts: list[Any] = draw(st.lists(st.sampled_from(FILLERS), max_size=4))
        parts += draw(st.lists(st.sampled_from(BLOCKS), min_size=1 if document == count - 1 and not sites else 0, max_size=2))
        for part in draw(st.permutations(parts)):
            number += 1
            if isinstance(part, str):
                text += part.replace("{n}", str(number))
                continue
            lines, path, before = part
            indent = " " * draw(st.integers(1, 6))
            key = draw(st.sampled_from(["site{n}", "'site{n}'", '"si te{n}"', "é.{n}", "? site{n}\n"])).replace("{n}", str(number))
            text += f"{key}:{lines}".replace("{i}", indent).replace("{n}", str(number))
            sites.append((document, (key.strip("?\n '\""), *path), before))
    return Made(text=text + draw(st.sampled_from(ENDS)), sites=tuple(sites), crlf=draw(st.booleans()), bom=draw(st.booleans()),
                final=draw(st.booleans()))
