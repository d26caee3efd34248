"""A person who watches hears that something is still waited for, also while this process itself stands in one request.

A server that hung in its first answer was waited for in silence for ten minutes.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from bot.bench.host import Host

SOON_S, EACH_S, JOIN_S = 2.0, 10.0, 0.5


@contextmanager
def telling(host: Host, what: str, limit_s: float, *, soon_s: float = SOON_S) -> Iterator[None]:
    """Says after `soon_s` and then every ten seconds how long it has been since `with`, and how long one answer may take."""
    begun, over = host.clock.now(), threading.Event()

    def tell() -> None:
        pause = soon_s
        while not over.wait(pause):
            host.say(f"{what}: no answer yet, {(host.clock.now() - begun).total_seconds():.0f} s (one may take {limit_s:.0f})")
            pause = EACH_S

    thread = threading.Thread(target=tell, name="waiting", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(JOIN_S)
