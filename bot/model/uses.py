"""Nouns for what a recipe asks of its engine: options, environment, coupled pins, carried patches, each with its place."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Written(Struct, frozen=True, kw_only=True):
    """Where something is written: a file of the recipe's repository, its line where it is known (from 1), its key."""

    file: str
    line: int | None = None
    key: str = ""

    @property
    def text(self) -> str:
        """`file:line`, or `file: key` where no line is known."""
        if self.line is not None:
            return f"{self.file}:{self.line}"
        return f"{self.file}: {self.key}" if self.key else self.file


class Used(Struct, frozen=True, kw_only=True):
    """One option (`--tp-size`) or environment variable (`VLLM_USE_V1`) as the server is started with it. `value` None: a switch,
    or a value that only the run knows (`$TP`); `role` is the process that gets it (prefill, decode, frontend), where several do;
    `program` the module or command that reads it where that is not the engine's server (`dynamo.vllm`). An option without dashes
    is a key of a configuration that the server is given (`kv_cache_config.dtype`). `conditional`: a script passes it on some of
    its branches. `start` tells apart several starts of a server that stand in one file: what one is given, another is not."""

    kind: Literal["option", "environment"]
    name: str
    value: str | None
    at: Written
    role: str = ""
    program: str = ""
    conditional: bool = False
    start: str = ""


class Pin(Struct, frozen=True, kw_only=True):
    """A part that is pinned beside the engine and imports it (Dynamo), by the layout's name for it. One of `version`, `commit`,
    `wheel` (a file's name or address) says which; none: it follows a branch (`ref`) or nobody says. `owned`: the pin stands in a
    file and key that a repair may change."""

    name: str
    package: str
    module: str
    source: str = ""
    version: str | None = None
    commit: str | None = None
    wheel: str | None = None
    ref: str | None = None
    at: Written
    owned: bool = False

    @property
    def text(self) -> str:
        """How people name it: `dynamo 1.1.0`, `dynamo ba83080`."""
        return f"{self.name} {self.version or (self.commit or '')[:12] or self.wheel or self.ref or '?'}"


class Carried(Struct, frozen=True, kw_only=True):
    """A source patch that the recipe puts on the image: its file, the upstream changes that it names, and its patch id
    (`git patch-id --stable`) where it is a diff."""

    at: Written
    pulls: tuple[int, ...] = ()
    commits: tuple[str, ...] = ()
    patch_id: str | None = None
    files: tuple[str, ...] = ()


class Uses(Struct, frozen=True, kw_only=True):
    """All of it for one family. `engine` is a name of knowledge/engines.yaml, None where nobody knows; `unread` are files or words
    that could not be understood: what stands there is unknown and never absent."""

    engine: str | None
    options: tuple[Used, ...] = ()
    environment: tuple[Used, ...] = ()
    pins: tuple[Pin, ...] = ()
    carried: tuple[Carried, ...] = ()
    words: tuple[str, ...] = ()  # model family, hardware, kernels, backends: what a commit's files are ranked by
    unread: tuple[str, ...] = ()
