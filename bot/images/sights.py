"""What we saw of a tag ourselves: when each digest first, and whether the tag was pushed again. Any tag may move: one that
looks like a release got new content nightly for weeks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from msgspec.structs import replace

from bot.model.image import Sight
from bot.model.ledger import Seen

# Changes kept of one tag: a registry that shows another digest at every look must not grow the ledger without end.
KEPT = 200


def sighted(seen: Seen, tag: str, digest: str, at: datetime) -> Seen:
    """The ledger's file after a look at a tag; the very same record when the look tells nothing new."""
    before = seen.tags.get(tag, ())
    after = noted(before, digest, at)
    return seen if after == before else replace(seen, tags={**seen.tags, tag: after})


def noted(sights: Sequence[Sight], digest: str, at: datetime) -> tuple[Sight, ...]:
    """The sights with one more look in its place in time. What the tag held already adds nothing; a digest that comes back
    after another one is a push again, and keeps its first sight. Looks may arrive late: of two wakes one writes first."""
    looks = sorted((*sights, Sight(digest=digest, at=at)), key=lambda sight: (sight.at, sight.digest))
    kept = [sight for place, sight in enumerate(looks) if place == 0 or looks[place - 1].digest != sight.digest]
    return tuple(kept[-KEPT:])


def first_seen(sights: Sequence[Sight], digest: str) -> datetime | None:
    """When we first saw these bytes under the tag; None when we never did."""
    return next((sight.at for sight in sights if sight.digest == digest), None)


def moved(sights: Sequence[Sight]) -> datetime | None:
    """When we last saw that the tag had been pushed again; None when we never did."""
    return sights[-1].at if len(sights) > 1 else None


def retold(tag: str, sights: Sequence[Sight], measured: date | None = None) -> str | None:
    """One sentence on a tag that was pushed again: its last two digests with their dates, how often before that, and whether
    a baseline measured on that day ran bytes that nobody can verify now. None when we never saw it move."""
    if len(sights) < 2:
        return None
    was, now = sights[-2], sights[-1]
    again = first_seen(sights, now.digest) != now.at
    text = (f"{tag} was pushed again: was {was.digest} (first seen {_day(was.at)}), is {now.digest} since {_day(now.at)}"
            + (", which it had held before" if again else ""))
    if len(sights) > 2:
        text += f"; {len(sights) - 1} pushes since {_day(sights[1].at)} are taken as one"
    return f"{text}; the baseline's bytes cannot be verified" if _between(sights, measured) else text


def _between(sights: Sequence[Sight], measured: date | None) -> bool:
    """Whether the tag moved after the day of the measurement. On the day itself nobody knows which came first, and it is
    not held against the baseline."""
    return measured is not None and sights[-1].at.date() > measured


def _day(at: datetime) -> str:
    return at.date().isoformat()
