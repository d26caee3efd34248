"""What operators say of their machines: a file of the default branch, or an address that answers with the same words.

An address is asked without any login, by TLS unless it is this machine, and what it says is read strictly and up to a limit: it
only ever makes the bot more careful. A redirect is not followed, since it would be another address than the layout's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import httpx

from bot.adapters.http import check, fetch, make_client, plain, retry_read
from bot.errors import Missing
from bot.layout.upstream import Preflight
from bot.model.preflight import Load, Staged
from bot.ports import Clock, Tree
from bot.preflight import kept

TOTAL_S, ATTEMPTS = 20.0, 2
"""A planning waits for nobody's slow page: what is not told is unknown."""


class LayoutFleet:
    """Satisfies the Fleet port by what a layout's `preflight` names; each source is asked once."""

    def __init__(self, told: Preflight, tree: Callable[[], Tree], clock: Clock, *,
                 transport: httpx.BaseTransport | None = None) -> None:
        self._told, self._tree, self._clock = told, tree, clock
        self._client: httpx.Client | None = None
        self._transport = transport
        self._staged: tuple[Staged, ...] | None = None

    def staged(self) -> Sequence[Staged] | None:
        """BadInput for what does not hold, `Missing` for a file that is not there."""
        file, url = self._told.staging.file, self._told.staging.url
        if not file and not url:
            return None
        if self._staged is None:
            self._staged = (*(self._of_file(file) if file else ()), *(kept.staged(self._asked(url), plain(url)) if url else ()))
        return self._staged

    def loads(self) -> Sequence[Load] | None:
        """Asked anew each time: it flips within minutes."""
        told = self._told.capacity
        return kept.loads(self._asked(told.url), plain(told.url)) if told.source == "http" else None

    def _of_file(self, file: str) -> Sequence[Staged]:
        data = self._tree().read(file)
        if data is None:
            raise Missing(f"{file} is not there", "correct `preflight.staging.file` of the layout")
        return kept.staged(data, file)

    def _asked(self, url: str) -> bytes:
        if self._client is None:
            self._client = make_client(transport=self._transport, headers={"Accept": "application/json"})
        client, now = self._client, self._clock.now().timestamp()

        def read() -> bytes:
            return check(fetch(client, "GET", url, limit=kept.MOST, total_s=TOTAL_S), plain(url), now=now).body

        return retry_read(self._clock, read, attempts=ATTEMPTS)
