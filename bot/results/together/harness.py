"""A folder that `bumpbot bench` filled: its report speaks for every export below it, so that nothing counts twice.

The rows of a report have the whole identity of their point and the exports' have not; laid side by side they would be two
points. Below a report that is not complete nothing counts, whatever the tools wrote: the load may have been cut off, or have
met a server that was not the one ordered.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from bot.errors import BadInput
from bot.results import places
from bot.results.parsed import Parsed
from bot.results.together.join import Skipped

ROWS = "rows.jsonl"
Named = tuple[str, Parsed]


def settled(read: Sequence[Named], skipped: Sequence[Skipped], faults: Sequence[tuple[str, BadInput]] = ()) -> tuple[
        list[Named], list[Skipped]]:
    """The files as they count, and what else lay there. Of exports below a report remain what only they tell: an eval's answers
    and what a server's own metrics say of it. `faults` are files that do not hold: the first is raised of those that do not lie
    below a report that says itself that its run did not end."""
    reports = {places.folder(name): made for name, made in read if made.report}
    for name, fault in faults:
        over = _over(name, reports)
        if over is None or over[1].report == "complete":
            raise fault
    if not reports:
        return list(read), list(skipped)
    files = [(name, _under(name, made, _over(name, reports))) for name, made in read]
    others = [skip for skip in skipped if _over(skip.name, reports) is None]
    return files, others


def _over(name: str, reports: dict[str, Parsed]) -> tuple[str, Parsed] | None:
    """The nearest report above a file, with its folder."""
    place = places.folder(name)
    while place not in reports:
        if not place:
            return None
        place = places.folder(place)
    return place, reports[place]


def _under(name: str, made: Parsed, over: tuple[str, Parsed] | None) -> Parsed:
    if over is None or made.report:
        return made
    place, report = over
    if report.report != "complete":
        return Parsed(reported=made.reported)
    if name == f"{place}/{ROWS}".lstrip("/"):
        return structs.replace(made, nothing="", accounting=())  # the report has counted them itself
    return Parsed(samples=made.samples, tallies=made.tallies, reported=made.reported)
