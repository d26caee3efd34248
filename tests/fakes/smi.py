"""Programs of GPU vendors that answer from records: nvidia-smi's CSV of whatever is asked for, and recorded JSON of AMD's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bot.errors import Missing

Said = tuple[int, str, str]


class Tools:
    """Satisfies Programs for programs that answer at once; `calls` are those made. A tool that raises does so in `run`."""

    def __init__(self, tools: Mapping[str, Callable[[Sequence[str]], Said]]) -> None:
        self.tools, self.calls = dict(tools), []

    def found(self, name: str) -> bool:
        return name in self.tools

    def run(self, argv: Sequence[str], *, cwd: Path | None = None, env: Mapping[str, str] | None = None,
            limit_s: float = 60.0, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
        self.calls.append(list(argv))
        if argv[0] not in self.tools:
            raise Missing(f"no such program: {argv[0]}")
        code, out, err = self.tools[argv[0]](argv[1:])
        return code, out.encode(), err.encode()

    def start(self, argv: Sequence[str], **more: Any) -> Any:
        raise AssertionError(f"{argv[0]} is not to be started")


class Nvidia:
    """nvidia-smi over planted GPUs, a mapping of field to word each. A field that the first GPU does not have ends the query."""

    def __init__(self, *gpus: Mapping[str, str], driver: str = "580.65.06", cuda: str = "13.0", busy: Sequence[str] = ()) -> None:
        self.gpus = [{"driver_version": driver, **gpu} for gpu in gpus]
        self.cuda, self.busy = cuda, busy

    def __call__(self, words: Sequence[str]) -> Said:
        if not words:
            return 0, f"| NVIDIA-SMI 580.65.06   Driver Version: 580.65.06   CUDA Version: {self.cuda}     |\n", ""
        option, _, fields = words[0].partition("=")
        if option == "--query-compute-apps":
            return 0, "".join(f"{uuid}\n" for uuid in self.busy), ""
        assert (option, words[1]) == ("--query-gpu", "--format=csv,noheader,nounits")
        if not self.gpus:
            return 6, "No devices were found\n", ""
        for field in fields.split(","):
            if field not in self.gpus[0]:
                return 2, f'Field "{field}" is not a valid field to query.\n\n', ""
        return 0, "".join(", ".join(gpu[field] for field in fields.split(",")) + "\n" for gpu in self.gpus), ""


def h200(index: int, **more: str) -> dict[str, str]:
    """One H200 as driver 580 tells it."""
    return {"index": str(index), "name": "NVIDIA H200", "uuid": f"GPU-0000000{index}-1111-2222-3333-444444444444",
            "memory.total": "143771", "memory.used": "1", "pci.bus_id": f"00000000:{index + 4:02X}:00.0", "clocks.sm": "345",
            "clocks.max.sm": "1980", "power.limit": "700.00", "temperature.gpu": "31", "power.draw": "76.42",
            "clocks_event_reasons.active": "0x0000000000000001", "mig.mode.current": "Disabled", **{name.replace("__", "."): word for name, word in more.items()}}


def says(text: str, code: int = 0, err: str = "") -> Callable[[Sequence[str]], Said]:
    """A tool that always says the same."""
    return lambda words: (code, text, err)
