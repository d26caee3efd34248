"""Whether AIPerf knows the public dataset or the format that a trace names, asked of AIPerf itself (a third of a second)."""

from __future__ import annotations

import re
from contextlib import suppress

from bot.bench.host import Host
from bot.bench.load.command import PROGRAM
from bot.errors import BadInput, Refusal, Unreachable
from bot.model.bench import Trace

LOOK_S = 60.0


def checked(trace: Trace | None, host: Host) -> str:
    """What it says of the name; empty where there is none, or no answer. Refusal for a name that it says it has not, with those
    that it has; one that does not answer so is not taken for a no."""
    kind, name = ("public_dataset_loader", trace.dataset) if trace and trace.dataset else ("custom_dataset_loader",
                                                                                          trace.format if trace else "")
    if not name:
        return ""
    env = {"LANG": "C.UTF-8", "COLUMNS": "400", "HOME": host.env.get("HOME", "/")}
    with suppress(Unreachable, BadInput):
        _, out, _ = host.programs.run([PROGRAM, "plugins", kind, name], env=env, limit_s=LOOK_S)
        said = out.decode("utf-8", "replace").lstrip()
        there = re.findall(r"[A-Za-z0-9_.-]+", said.partition("Available:")[2])
        # On its command line `-` and `_` are one, and so are large and small letters.
        if said.startswith("Not found:") and there and _plain(name) not in map(_plain, there):
            what = "public dataset" if trace and trace.dataset else "format of a trace"
            raise Refusal(f"{name} is no {what} that this AIPerf knows",
                          f"it knows {', '.join(there[:12])}{', ...' if len(there) > 12 else ''}")
        return said
    return ""


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
