"""The server's command line. What it does not know are the engine's own arguments: taken, and reported back as they came."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from bot.errors import BadArguments
from bot.rehearse.engine.faults import Planted, described

ENGINES = ("vllm", "sglang")
VERSIONS = {"vllm": "0.29.0", "sglang": "0.5.19"}
RUNNING, CONTEXT = 256, 32_768
"""Limits where none is asked for."""
# One thing, as both engines spell it; words are compared with `-` for `_` and without the dashes before them.
SPELLINGS = {
    "model": ("model", "model-path", "model-tag"),
    "served": ("served-model-name",),
    "running": ("max-running-requests", "max-num-seqs"),
    "context": ("context-length", "max-model-len"),
    "tp": ("tp", "tp-size", "tensor-parallel-size"),
    "pp": ("pp", "pp-size", "pipeline-parallel-size"),
    "dp": ("dp", "dp-size", "data-parallel-size"),
    "ep": ("ep", "ep-size", "expert-parallel-size"),
}
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)([kKmMgG]?)")
# vLLM reads 25k as 25,000 and 25K as 25,600.
_SCALES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "K": 2**10, "M": 2**20, "G": 2**30}
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+)+(?:(?:\.?(?:post|dev)|rc)[0-9]+)*")

Value = str | int | float | bool


class Options(Struct, frozen=True, kw_only=True):
    """How one server behaves. `args` are the engine's own arguments, by name without dashes. Times in seconds."""

    host: str = "127.0.0.1"
    port: int = 0
    engine: str = "vllm"
    version: str = VERSIONS["vllm"]
    model: str = ""
    ttft: float = 0.02
    itl: float = 0.005
    running: int = RUNNING
    context: int = CONTEXT
    kv_tokens: int | None = None
    asked: dict[str, int] = {}
    tokenizer: str = ""
    wrong: int = 0
    wrong_share: float = 0.0
    args: dict[str, Value] = {}
    faults: Planted = Planted()

    @property
    def capacity(self) -> int:
        """Tokens that the KV cache holds."""
        return self.running * self.context if self.kv_tokens is None else self.kv_tokens


def parse(argv: Sequence[str]) -> Options:
    """Options of a command line; BadArguments says what does not hold. `--help` prints and ends, as everywhere."""
    known, rest = _parser().parse_known_args(argv)
    args = engine_args(rest)
    faults = Planted(known.fault)
    image = known.image.rpartition("@")[0] or known.image
    engine = known.engine or ("sglang" if "sglang" in image else "vllm")
    tag = _VERSION.search(image.rpartition(":")[2]) if ":" in image.rpartition("/")[2] else None
    asked = {name: size for name in ("running", "context") if (size := _size(args, name)) is not None}
    if known.slots is not None:
        asked["running"] = known.slots
    if known.tokenizer:  # vLLM has an argument of this name too: it is reported back, and a file is read besides
        args["tokenizer"] = known.tokenizer
    return Options(
        host=known.host, port=known.port, engine=engine,
        version=faults.text("wrong-version") or known.version or (tag[0] if tag else VERSIONS[engine]),
        model=faults.text("wrong-model") or str(_first(args, "served") or known.model or _first(args, "model") or ""),
        ttft=known.ttft_ms / 1000, itl=known.itl_ms / 1000, kv_tokens=known.kv_tokens, asked=asked,
        running=faults.lowered("lowered-limits", asked.get("running", RUNNING)),
        context=faults.lowered("shorter-context", asked.get("context", CONTEXT)),
        tokenizer=known.tokenizer, wrong=known.wrong, wrong_share=known.wrong_share, args=args, faults=faults)


def engine_args(words: Sequence[str]) -> dict[str, Value]:
    """`--tp 8 --enable-x --y=z` as {tp: 8, enable-x: True, y: z}; the first bare word is the model, as `vllm serve` has it."""
    found: dict[str, Value] = {}
    name = ""
    for word in words:
        if word.startswith("-") and not _NUMBER.fullmatch(word):
            name, equals, value = word.lstrip("-").partition("=")
            name = name.replace("_", "-")
            found[name] = _value(value) if equals else True
            name = "" if equals else name
        elif name:
            found[name] = _value(word)
            name = ""
        elif word not in ("serve",):
            found.setdefault("model", word)
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bot.rehearse.engine", allow_abbrev=False, epilog=described(), description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--host", default="127.0.0.1")
    add("--port", type=_whole(0, 65_535), default=0, help="0: a free one, told at start")
    add("--model", default="", help="the name that is served; without one, any")
    add("--image", default="", help="names engine and version where --engine and --version do not")
    add("--engine", choices=ENGINES, help="whose words it speaks")
    add("--version", default="", help="what it says its version is")
    add("--ttft-ms", type=_real, default=20.0, help="until the first token (20)")
    add("--itl-ms", type=_real, default=5.0, help="between tokens (5)")
    add("--slots", type=_whole(1, 10**6), help="running requests; the rest queue (the engine's own argument does the same)")
    add("--kv-tokens", type=_whole(1, 10**12), help="tokens the KV cache is said to hold")
    add("--tokenizer", default="", help="a tokenizer.json or its folder (else the one that comes with this program): prompts are"
        " counted and answers made with it where the library `tokenizers` is there; without it, or with `plain`, a token is four"
        " bytes of a prompt, and a word of an answer")
    add("--wrong", type=_whole(0, 10**6), default=0, help="so many questions of arithmetic are answered wrong: the first"
        " that come, and always those")
    add("--wrong-share", type=_real, default=0.0, help="about this share of all questions is answered wrong, chosen by its words")
    add("--fault", action="append", default=[], metavar="NAME[:VALUE]")
    return parser


def _whole(low: int, high: int) -> type[int]:
    def read(text: str) -> int:
        if (value := int(text)) not in range(low, high + 1):
            raise argparse.ArgumentTypeError(f"{text} is not from {low} to {high}")
        return value

    return read  # type: ignore[return-value]


def _real(text: str) -> float:
    value = float(text)
    if not 0 <= value < 1e7:
        raise argparse.ArgumentTypeError(f"{text} is not from 0 to 10,000,000")
    return value


def _first(args: Mapping[str, Value], name: str) -> Value | None:
    return next((args[word] for word in SPELLINGS[name] if word in args), None)


def width(options: Options, name: str) -> int:
    """tp, pp, dp or ep as asked; 1 where it is not."""
    value = _first(options.args, name)
    return value if isinstance(value, int) and value > 0 else 1


def _size(args: Mapping[str, Value], name: str) -> int | None:
    value = _first(args, name)
    if value is None or value in ("auto", -1):
        return None
    found = _SIZE.fullmatch(str(value))
    size = int(float(found[1]) * _SCALES[found[2]]) if found else 0
    if size < 1:
        raise BadArguments(f"{value!r} is no {'context length' if name == 'context' else 'number of requests'}", "a whole number")
    return size


def _value(text: str) -> Value:
    if _NUMBER.fullmatch(text) and len(text) < 16:
        return float(text) if "." in text else int(text)
    return {"true": True, "false": False}.get(text.lower(), text)
