"""Docker Hub's own pages beside its registry: when a tag was last pushed, which the distribution protocol cannot tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bot.rehearse.loopback import Reply, Request, json_reply

if TYPE_CHECKING:
    from bot.rehearse.registry import Content, ImageData


def hub_page(url: str, name: str, tags: Mapping[str, tuple[ImageData, Content]], tag: str | None, request: Request) -> Reply:
    """The page of one tag, or one page of all tags, last pushed first."""
    if tag is not None:
        held = tags.get(tag)
        return json_reply(_tag(tag, *held)) if held else json_reply({"message": "object not found"}, status=404)
    size, page = page_size(request.query.get("page_size"), 10), page_size(request.query.get("page"), 1)
    newest = sorted(tags.items(), key=lambda item: item[1][0].pushed, reverse=True)
    more = f"{url}/v2/repositories/{name}/tags?page={page + 1}&page_size={size}" if page * size < len(newest) else None
    shown = [_tag(word, *held) for word, held in newest[(page - 1) * size : page * size]]
    return json_reply({"count": len(newest), "next": more, "previous": None, "results": shown})


def page_size(text: str | None, otherwise: int) -> int:
    """A number of a query, from 1 to 1000."""
    return int(text) if text and text.isdigit() and 0 < int(text) <= 1000 else otherwise


def platform_of(name: str) -> dict[str, str]:
    """os/architecture[/variant] as manifests write it."""
    system, architecture, *variant = name.split("/")
    return {"architecture": architecture, "os": system, **({"variant": variant[0]} if variant else {})}


def _tag(tag: str, image: ImageData, content: Content) -> dict[str, Any]:
    pushed = image.pushed.isoformat().replace("+00:00", "Z")
    images = [
        {**platform_of(platform), "digest": made.digest, "size": len(made.body), "status": "active", "last_pushed": pushed}
        for platform, made in zip(image.platforms, content.manifests or (content.top,), strict=False)
    ]
    return {
        "name": tag,
        "digest": content.top.digest,
        "full_size": len(content.blobs[0].body),
        "last_updated": pushed,
        "tag_last_pushed": pushed,
        "tag_status": "active",
        "media_type": content.top.media,
        "images": images,
    }
