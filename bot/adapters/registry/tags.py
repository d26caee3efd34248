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
# Sizes at which registries cut a page. A whole list of exactly so many tags and a first page without a Link look the same.
_CUTS = frozenset({50, 100, 200, 500, PAGE})
_NEXT = re.compile(r'<([^<>]{1,4096})>\s*;[^,]*\brel\s*=\s*"?next"?')

Page = Callable[[str], Awaitable[Answer]]


async def listing(page: Page, host: Host, reference: Reference, total_s: float) -> tuple[str, ...]:
    """All tags in the registry's order. `page` asks for one page; the whole must be read within five times `total_s`."""
    url = f"{host.api}/v2/{reference.repository}/tags/list?n={PAGE}"
    asked: set[str] = set()
    found: dict[str, None] = {}
    deadline = time.monotonic() + MAX_LISTING * total_s
    while url:
        if time.monotonic() > deadline:
            raise Unreachable(f"{reference.name}: the tag listing takes too long", "try again later")
        if url in asked or len(asked) >= MAX_PAGES:
            raise BadInput(f"{reference.name}: the tag listing does not end after {len(asked)} pages",
                           "the registry pages in a loop; a partial list would hide newer tags")
        asked.add(url)
        answer = await page(url)
        listed, known = tags_of(answer), len(found)
        found.update(dict.fromkeys(tag for tag in listed if isinstance(tag, str) and valid_tag(tag)))
        if len(found) > MAX_TAGS:
            raise BadInput(f"{reference.name}: more than {MAX_TAGS} tags", "the registry's listing is not believed")
        url = _linked(answer, host) or (_unlinked(host, reference, listed) if len(found) > known else "")
    return tuple(found)


def tags_of(answer: Answer) -> list[object]:
    """One page's tags as they are listed; BadInput where the answer is no tag list."""
    page = answer.json()
    listed = page.get("tags") if isinstance(page, dict) else None
    if not isinstance(listed, list) and listed is not None or not isinstance(page, dict):
        raise BadInput(f"{plain(answer.url)}: not a tag list", "the registry's answer has no `tags`")
    return listed or []


def _linked(answer: Answer, host: Host) -> str:
    found = _NEXT.search(answer.headers.get("link", ""))
    if found is None:
        return ""
    target, api = httpx.URL(joined(answer.url, found[1])), httpx.URL(host.api)
    if (target.scheme, target.netloc) != (api.scheme, api.netloc):
        raise Refusal(f"{host.name} pages its tags on {target.host}", "a Link to another host is not followed")
    return str(target)


def _unlinked(host: Host, reference: Reference, listed: list[object]) -> str:
    """The next page of a registry that cuts its pages and does not say so; one that ignores `last` brings nothing new."""
    last = listed[-1] if len(listed) in _CUTS else None
    if not isinstance(last, str) or not valid_tag(last):
        return ""
    return f"{host.api}/v2/{reference.repository}/tags/list?n={PAGE}&last={last}"
