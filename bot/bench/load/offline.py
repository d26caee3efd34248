"""Whether a load would find its tokenizer and data set where nothing may be fetched, told before a server is started.

AIPerf looks only when the server is up: on a machine without the tokenizer every GPU of the point had been loaded first. Where the
hub may be asked, nothing is said here: only the hub knows what it has.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from bot.bench.diary import known
from bot.bench.load import environment
from bot.errors import Missing, Refusal
from bot.model.bench import Machine, Order

_OF_HUB = re.compile("hugging ?face", re.IGNORECASE)


def folders(order: Order, machine: Machine) -> None:
    """Refusal for a folder that the machine file names, that this point needs, and that is not there."""
    tasks = os.path.expanduser(machine.tasks) if order.eval else ""
    for key, folder in (("models", machine.models), ("tasks", tasks)):
        if folder and not Path(folder).is_dir():
            raise Refusal(f"the folder {folder} is not there", f"correct `{key}` in the machine file")


def checked(order: Order, machine: Machine, env: Mapping[str, str], said: str) -> None:
    """Missing where the hub may not be asked and the cache lacks the tokenizer, or holds no data set at all though the trace is one
    of the hub; `said` is what AIPerf says of the trace. Which repository a data set is in AIPerf does not say: with another one in
    the cache it is left to AIPerf."""
    switch = next((name for name in environment.OFFLINE if environment.on(env.get(name))), None)
    if switch is None:
        return
    cache = environment.huggingface(machine, env, Path("/nonexistent"))
    trace = order.load.trace if order.load else None
    if not environment.staged(order, cache):
        at, option = (f" at revision {order.revision}", f" --revision {order.revision}") if order.revision else ("", "")
        raise known(Missing(f"the tokenizer of {order.model}{at} is not in {cache}, and {switch} is set",
                            _fetch(f"hf download {order.model}{option}", cache, switch)), "tokenizer-missing", "load")
    if trace and trace.dataset and _OF_HUB.search(said) and not _any(cache):
        raise known(Missing(f"no data set is in {cache}, {trace.dataset} is one of Hugging Face, and {switch} is set",
                            _fetch("load it once there", cache, switch)), "data-unreached", "load")


def _fetch(how: str, cache: Path, switch: str) -> str:
    return f"where the hub can be reached: {how}, with HF_HOME={cache}; or unset {switch}"


def _any(cache: Path) -> bool:
    """Whether a data set lies in a cache, as files or as `datasets` keeps it."""
    return any(next(cache.glob(pattern), None) for pattern in ("hub/datasets--*", "datasets/*"))
