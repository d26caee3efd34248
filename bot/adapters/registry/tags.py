"""Every tag of a repository: pages followed to their end, and an error where they have none; never a part of a list."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable

import httpx

from bot.adapters.http import Answer, plain
from bot.adapters.registry.hosts import Host
from bot.adapters.registry.session import joined
from bot.errors import BadInput, Refusal, Unreachable
from bot.images.reference import valid_tag
from bot.model.image import Reference

PAGE = 1000
MAX_PAGES, MAX_TAGS, MAX_TAG_PAGE = 200, 200_000, 8_000_000
# How many times the seconds of one answer all pages together may take.
MAX_LISTING = 5
# Bytes of all pages together: twice what so many tags of the usual length take.
MAX_LISTING_BYTES = 24_000_000
MAX_LINK = 8192
# Sizes at which registries cut a page. A whole list of exactly so many tags and a first page without a Link look the same.
_CUTS = frozenset({50, 100, 200, 500, PAGE})
_LINK = re.compile(r"<([^<>]*)>([^<>]*)")
_REL = re.compile(r';\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))', re.IGNORECASE)
_SPEAKS_OF_NEXT = re.compile(r"\bnext\b", re.IGNORECASE)

Page = Callable[[str], Awaitable[Answer]]


async def listing(page: Page, host: Host, reference: Reference, total_s: float) -> tuple[str, ...]:
    """All tags in the registry's order. `page` asks for one page; the whole must be read within five times `total_s`."""
    url = f"{host.api}/v2/{reference.repository}/tags/list?n={PAGE}"
    asked: set[str] = set()
    found: dict[str, None] = {}
    size = 0
    deadline = time.monotonic() + MAX_LISTING * total_s
    while url:
        if time.monotonic() > deadline:
            raise Unreachable(f"{reference.name}: the tag listing takes too long", "try again later")
        if url in asked or len(asked) >= MAX_PAGES:
            raise BadInput(f"{reference.name}: the tag listing does not end after {len(asked)} pages",
                           "the registry pages in a loop; a partial list would hide newer tags")
        asked.add(url)
        answer = await page(url)
        listed, known, size = tags_of(answer), len(found), size + len(answer.body)
        found.update(dict.fromkeys(tag for tag in listed if isinstance(tag, str) and valid_tag(tag)))
        if len(found) > MAX_TAGS or size > MAX_LISTING_BYTES:
            raise BadInput(f"{reference.name}: more than {MAX_TAGS} tags or {MAX_LISTING_BYTES} bytes of them",
                           "the registry's listing is not believed")
        url = _linked(answer, host) or (_unlinked(host, reference, listed) if len(found) > known else "")
    return tuple(found)


def tags_of(answer: Answer) -> list[object]:
    """One page's tags as they are listed; BadInput where the answer is no tag list."""
    page = answer.json()
    listed = page.get("tags") if isinstance(page, dict) else None
    if not isinstance(page, dict) or "tags" not in page or not (listed is None or isinstance(listed, list)):
        raise BadInput(f"{plain(answer.url)}: not a tag list", "the registry's answer has no `tags`")
    return listed or []


def _linked(answer: Answer, host: Host) -> str:
    found = _next_of(answer)
    if found is None:
        return ""
    target, api = httpx.URL(joined(answer.url, found)), httpx.URL(host.api)
    if (target.scheme, target.netloc) != (api.scheme, api.netloc):
        raise Refusal(f"{host.name} pages its tags on {target.host or target.scheme}", "a Link to another host is not followed")
    return str(target)


def _next_of(answer: Answer) -> str | None:
    """What `rel=next` of the Link header names. One that cannot be read is an error: a listing that ends there hides tags."""
    header = answer.headers.get("link", "")
    if len(header) <= MAX_LINK:
        for target, told in _LINK.findall(header):
            if any("next" in (quoted or bare).lower().split() for quoted, bare in _REL.findall(told)):
                return str(target)
        if not _SPEAKS_OF_NEXT.search(_LINK.sub(r"\2", header)):
            return None
    raise BadInput(f"{plain(answer.url)}: a Link to the next page that cannot be read", "a partial list would hide newer tags")


def _unlinked(host: Host, reference: Reference, listed: list[object]) -> str:
    """The next page of a registry that cuts its pages and does not say so; one that ignores `last` brings nothing new."""
    last = listed[-1] if len(listed) in _CUTS else None
    if not isinstance(last, str) or not valid_tag(last):
        return ""
    return f"{host.api}/v2/{reference.repository}/tags/list?n={PAGE}&last={last}"
