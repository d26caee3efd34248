"""Blocking calls beside an event loop: the one that waits does not hold up the others, and Ctrl-C does not wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


async def aside(call: Callable[..., T], *arguments: Any) -> T:
    """What `call(*arguments)` answers or raises, run in a thread of its own.

    The loop's own executor is joined when the loop ends: a name that takes a minute to resolve would hold a finished
    scan for that minute. These threads are left behind instead.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def tell(deliver: Callable[[Any], None], value: Any) -> None:
        if not done.done():
            deliver(value)

    def work() -> None:
        deliver: Callable[[Any], None]
        try:
            deliver, value = done.set_result, call(*arguments)
        except BaseException as error:
            deliver, value = done.set_exception, error
        try:
            loop.call_soon_threadsafe(tell, deliver, value)
        except RuntimeError:
            return  # the loop has ended: nobody waits for this any more

    Thread(target=work, daemon=True).start()
    return await done
