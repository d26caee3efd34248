"""Reading over HTTP: one client, limits on everything, and every failure folded into our few errors.

httpx raises some twenty kinds of exception and follows what it is told; here a read has a byte limit and a total time
(a body that drips one byte a second defeats a read time-out), redirects are the caller's decision, and only reads are
ever retried: a 502 that came after the effect made two comments once.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from functools import cache, lru_cache
from typing import Any, BinaryIO, TypeVar

import httpx
from msgspec import Struct
from tenacity import AsyncRetrying, RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt

from bot.errors import BadInput, BumpbotError, Missing, Refusal, Unreachable
from bot.ports import Clock
from bot.strict import json_value

T = TypeVar("T")
USER_AGENT = "bumpbot (container image bumps; reads only)"
CONNECT_S, READ_S, TOTAL_S = 10.0, 30.0, 120.0
MAX_BODY = 32_000_000
ATTEMPTS = 4
LONGEST_WAIT_S = 60.0
# What httpx undoes though only gzip is asked for; a kilobyte packed so, or twice, becomes gigabytes before a limit is looked at.
_UNASKED = frozenset({"deflate", "br", "zstd"})


class Busy(Unreachable):
    """The server asks for patience (429, 5xx, a spent limit) or the line broke; `after_s` is what it asked for."""

    def __init__(self, reason: str, hint: str = "", *, after_s: float | None = None) -> None:
        self.after_s = after_s
        super().__init__(reason, hint)


class Limited(Busy):
    """A limit on how often may be asked is used up (429, or a 403 that says so)."""


class Answer(Struct, frozen=True, kw_only=True):
    """A response read whole. Header names are lower-case."""

    url: str
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON, without duplicate keys, NaN or Infinity; BadInput names the URL."""
        try:
            return json_value(self.body.decode("utf-8"), file=plain(self.url))
        except UnicodeDecodeError as error:
            raise BadInput("not UTF-8", f"look at byte {error.start}", file=plain(self.url)) from None
        except ValueError:
            # A number of more than 4,300 digits: Python refuses to spend the time.
            raise BadInput("not JSON that can be read: a number is too long", "", file=plain(self.url)) from None


def make_client(*, transport: httpx.BaseTransport | None = None, headers: Mapping[str, str] | None = None,
                connect_s: float = CONNECT_S, read_s: float = READ_S) -> httpx.Client:
    """A client for questions asked one after another: no redirects, no environment (proxies, .netrc), bounded waits."""
    return httpx.Client(transport=transport, **_client_options(headers, connect_s, read_s))


def make_async_client(transport: httpx.AsyncBaseTransport) -> httpx.AsyncClient:
    """The same client for questions asked side by side; it lives inside one event loop."""
    return httpx.AsyncClient(transport=transport, **_client_options(None, CONNECT_S, READ_S))


@cache
def trusted() -> ssl.SSLContext:
    """The machine's certificates, read once: it takes longer than an answer does, and a wake makes three clients."""
    return httpx.create_ssl_context()


def _client_options(headers: Mapping[str, str] | None, connect_s: float, read_s: float) -> dict[str, Any]:
    return {"follow_redirects": False, "trust_env": False, "verify": trusted(), "max_redirects": 0,
            "timeout": httpx.Timeout(read_s, connect=connect_s, pool=connect_s),
            "limits": httpx.Limits(max_connections=20, max_keepalive_connections=10),
            "headers": {"User-Agent": USER_AGENT, "Accept-Encoding": "gzip", **(headers or {})}}


@lru_cache(maxsize=1024)
def plain(url: str) -> str:
    """A URL as it may be stored and shown: without query, fragment or user, which carry tokens and signatures."""
    parts = httpx.URL(url)
    return str(parts.copy_with(query=None, fragment=None, userinfo=b""))


def fetch(client: httpx.Client, method: str, url: str, *, headers: Mapping[str, str] | None = None,
          limit: int = MAX_BODY, total_s: float = TOTAL_S, content: bytes | BinaryIO | None = None) -> Answer:
    """One request, its body read whole; any status is an answer. More than `limit` bytes is a BadInput. `content` is sent, a file
    from where it stands and piece by piece."""
    with _open(client, method, url, headers, total_s, content) as (response, deadline):
        body = b"" if method == "HEAD" else b"".join(_chunks(response, url, limit, deadline))
        return Answer(url=url, status=response.status_code, headers=_headers(response), body=body)


async def fetch_async(client: httpx.AsyncClient, method: str, url: str, *, headers: Mapping[str, str] | None = None,
                      limit: int = MAX_BODY, total_s: float = TOTAL_S) -> Answer:
    """As `fetch`, among other requests. The time limit counts from the name's look-up to the last byte: a server that
    drips headers is as slow as one that drips a body."""
    import asyncio

    with _folded(url):
        try:
            async with asyncio.timeout(total_s), client.stream(method, url, headers=dict(headers or {})) as response:
                _check_declared(response, url, limit)
                body = bytearray()
                if method != "HEAD":
                    async for chunk in response.aiter_bytes():
                        _check_read(len(body) + len(chunk), url, limit)
                        body += chunk
                return Answer(url=url, status=response.status_code, headers=_headers(response), body=bytes(body))
        except TimeoutError:
            raise Busy(f"{_shown(url)}: the answer came too slowly", "try again later") from None


def stream(client: httpx.Client, url: str, into: BinaryIO, *, headers: Mapping[str, str] | None = None,
           limit: int, total_s: float) -> int:
    """Writes a body into a file as it comes and tells how many bytes; statuses other than 2xx raise as `check` says."""
    with _open(client, "GET", url, headers, total_s) as (response, deadline):
        if not 200 <= response.status_code < 300:
            check(Answer(url=url, status=response.status_code, headers=_headers(response), body=b""), plain(url))
        return sum(into.write(chunk) for chunk in _chunks(response, url, limit, deadline))


def check(answer: Answer, what: str, *, now: float | None = None) -> Answer:
    """A 2xx answer as it is. 404 is Missing, 401 and 403 a Refusal, 429 and 5xx Busy, all else a Refusal; `what` names
    what was asked for. `now` (epoch seconds) lets a rate limit's reset time count as a wait."""
    status = answer.status
    if 200 <= status < 300:
        return answer
    if status in (404, 410):
        raise Missing(f"{what}: not there ({status})", "check the name; it may be gone, private, or not published yet")
    told = answer.headers
    spent = "0" in (told.get(name, "").partition(";")[0].strip() for name in ("x-ratelimit-remaining", "ratelimit-remaining"))
    if status == 429 or (status == 403 and (spent or "retry-after" in answer.headers)):
        raise Limited(f"{what}: rate limit reached ({status})", "log in for a higher limit, or wait",
                      after_s=wait_asked(answer, now=now))
    if status >= 500:
        raise Busy(f"{what}: server error ({status})", "try again later", after_s=wait_asked(answer, now=now))
    if status in (401, 403):
        raise Refusal(f"{what}: access refused ({status})", "check the credentials and what they may read")
    if 300 <= status < 400:
        raise Refusal(f"{what}: redirected ({status}), which is not followed here", "name the place it moved to")
    raise Refusal(f"{what}: the server refused the request ({status})", "the request or its address is wrong")


def wait_asked(answer: Answer, *, now: float | None = None) -> float | None:
    """Seconds the server asked us to wait: Retry-After (seconds or a date), else the rate limit's reset time."""
    asked = answer.headers.get("retry-after", "").strip()
    if asked.isascii() and asked.isdigit():
        return float(asked)
    reset = answer.headers.get("x-ratelimit-reset", "").strip()
    if asked:
        try:
            reset = str(int(parsedate_to_datetime(asked).timestamp()))
        except (TypeError, ValueError, OverflowError):
            return None
    if now is not None and reset.isascii() and reset.isdigit() and len(reset) < 12:
        return max(0.0, float(reset) - now)
    return None


def retry_read(clock: Clock, read: Callable[[], T], *, attempts: int = ATTEMPTS) -> T:
    """Runs a read again while it raises Busy, waiting on the given clock: as long as the server asked, else 1, 2, 4 s.

    A server that asks for more than a minute is not waited for: waiting is returning, and a later wake tries again.
    """
    return Retrying(sleep=clock.sleep, **_retry_policy(attempts, lambda: False))(read)


async def retry_async(rest: Callable[[float], Awaitable[None]], read: Callable[[], Awaitable[T]], *,
                      enough: Callable[[], bool], attempts: int = ATTEMPTS) -> T:
    """As `retry_read` for a read among others; it also ends once `enough` says that the time for it is used up."""
    return await AsyncRetrying(sleep=rest, **_retry_policy(attempts, enough))(read)


def _retry_policy(attempts: int, enough: Callable[[], bool]) -> dict[str, Any]:
    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.after_s if isinstance(error, Busy) else None
        return asked if asked is not None else float(2 ** (state.attempt_number - 1))

    def stop(state: RetryCallState) -> bool:
        return stop_after_attempt(attempts)(state) or wait(state) > LONGEST_WAIT_S or enough()

    return {"wait": wait, "stop": stop, "retry": retry_if_exception_type(Busy), "reraise": True}


@contextmanager
def _open(client: httpx.Client, method: str, url: str, headers: Mapping[str, str] | None, total_s: float,
          content: bytes | BinaryIO | None = None) -> Iterator[tuple[httpx.Response, float]]:
    deadline = time.monotonic() + total_s
    with _folded(url), client.stream(method, url, headers=dict(headers or {}), content=content) as response:
        yield response, deadline


@contextmanager
def _folded(url: str) -> Iterator[None]:
    shown = _shown(url)
    try:
        yield
    except BumpbotError:
        raise
    except httpx.TimeoutException:
        raise Busy(f"{shown}: no answer in time", "try again later") from None
    except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError) as error:
        raise BadInput(f"{shown}: not an address that can be asked ({error})", "write http(s)://host/path") from None
    except (httpx.DecodingError, httpx.LocalProtocolError) as error:
        raise BadInput(f"{shown}: the answer cannot be read ({error})", "the server or a header is broken") from None
    except httpx.HTTPError as error:
        raise Busy(f"{shown}: {_cause(error)}", "check the network; a later wake tries again") from None


def _chunks(response: httpx.Response, url: str, limit: int, deadline: float) -> Iterator[bytes]:
    """Decoded bytes, counted after decompression: a small answer may hold gigabytes."""
    _check_declared(response, url, limit)
    read = 0
    for chunk in response.iter_bytes():
        read += len(chunk)
        _check_read(read, url, limit)
        if time.monotonic() > deadline:
            raise Busy(f"{plain(url)}: the answer came too slowly", "try again later")
        yield chunk


def _check_declared(response: httpx.Response, url: str, limit: int) -> None:
    if response.request.method == "HEAD":
        return
    coding = response.headers.get("content-encoding", "").strip().lower()
    if "," in coding or coding in _UNASKED:
        raise BadInput(f"{plain(url)}: an answer packed in a way nobody asked for", "the server is broken")
    declared = response.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared) > limit:
        raise BadInput(f"{plain(url)}: an answer of {declared} bytes", f"at most {limit} are read here")


def _check_read(read: int, url: str, limit: int) -> None:
    if read > limit:
        raise BadInput(f"{plain(url)}: an answer of more than {limit} bytes", "it is not read further")


def _headers(response: httpx.Response) -> dict[str, str]:
    told: dict[str, str] = {}
    for raw, value in response.headers.raw:
        name, text = raw.decode("latin-1").lower(), value.decode("latin-1")
        told[name] = f"{told[name]}, {text}" if name in told else text
    return told


def _shown(url: str) -> str:
    try:
        return plain(url)
    except (httpx.InvalidURL, UnicodeError, ValueError):
        return repr(url[:80])


def _cause(error: httpx.HTTPError) -> str:
    words = str(error).splitlines()
    return words[0][:200] if words and words[0] else type(error).__name__
