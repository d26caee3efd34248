"""What upstream's history says of a candidate: what lies between the images, and which changes it holds. Nothing is judged here."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from bot.errors import BumpbotError
from bot.images import built
from bot.images.tags import fields, unlike
from bot.layout import called
from bot.model.image import Resolved
from bot.model.text import Text
from bot.model.upstream import Change, Comparison, Contained
from bot.model.uses import Pin, Uses
from bot.plan.sources import Sources
from bot.plan.trees import Trees
from bot.ports import History
from bot.upstream import compare, contains
from bot.upstream.changes import same

MOST = 400
"""So many tags are looked at: a registry has thousands, and what is far older than the candidate is no answer."""
_EITHER = frozenset({"channel"})
_OLD = Text(en="Which commit the present image was built from is not known, so nothing was compared with it: neither its label nor "
               "its tag names one", zh="无法得知当前镜像由哪个提交构建，因此未与其比较：其标签元数据与镜像标签均未注明提交")
_NEW = Text(en="Which commit the new image was built from is not known, so it was compared with nothing: neither its label nor its "
               "tag names one", zh="无法得知新镜像由哪个提交构建，因此未作比较：其标签元数据与镜像标签均未注明提交")


def comparisons(sources: Sources, trees: Trees, old: Resolved, new: Resolved, uses: Uses) -> tuple[Comparison, ...]:
    """Each image's commit against the engine's main line, then one against the other; none where the source is not known."""
    if trees.repository is None:
        return ()
    return compare.compared(sources.commits, trees.history, trees.repository, trees.commit(old), trees.commit(new), uses,
                            trees.engine)


def untold(trees: Trees, old: Resolved, new: Resolved) -> tuple[Text, ...]:
    """Why a comparison is missing, for people: where nothing is said, they take it that nothing was found."""
    if trees.repository is None:
        name = new.reference.name
        return (Text(en=f"The layout names no source for {name}, so nothing upstream was compared",
                     zh=f"布局未指定 {name} 的源码仓库，因此未与上游比较"),)
    rows = ((old, _OLD), (new, _NEW))
    return (*(said for image, said in rows if trees.commit(image) is None),
            *(said for image in (old, new) if (said := _stands_in(trees, image)) is not None))


def _stands_in(trees: Trees, image: Resolved) -> Text | None:
    """That an image was judged by its release's sources, where what its label names is none of the engine's commits: it may be a
    base image's, or that of a fork whose own changes nobody saw."""
    told, read = image.facts.commit, trees.commit(image)
    if told is None or read is None or read.startswith(told) or told.startswith(read):
        return None
    name, mine, theirs, of = image.reference.tag or image.digest[:19], told[:9], read[:9], trees.repository
    return Text(en=f"{name} names commit {mine}, which is none of {of}; commit {theirs} of its release tag was read in its place, "
                   f"so what the image holds besides the release is not known",
                zh=f"{name} 标注的提交 {mine} 不属于 {of}；改读其发布标签对应的提交 {theirs}，"
                   f"镜像中发布版本以外的内容未知")


def contained(sources: Sources, trees: Trees, old: Resolved, new: Resolved, uses: Uses,
              changes: Sequence[Change]) -> tuple[Contained, ...]:
    """How the changes that somebody names stand to the candidate, to what else is published, and to the coupled parts. What else
    is published is only asked for where the candidate does not do: it may be hundreds of tags."""
    asked = []
    own = [change for change in changes if trees.repository and same(change.repository, trees.repository)]
    if own and trees.repository:
        image = contains.Published(of=new.reference.name, repository=trees.repository, candidate=_named(trees, new),
                                   current=_named(trees, old))
        first = contains.contained(trees.history_of, changes, [image])
        if any(one.candidate is not None and one.candidate.fits is False for one in first):
            image = replace(image, choices=published(sources, trees, new))
        asked.append(image)
    asked += [one for pin in uses.pins if (one := _pinned(trees, pin, changes)) is not None]
    return contains.contained(trees.history_of, changes, asked)


def _named(trees: Trees, image: Resolved) -> contains.Named:
    return image.reference.tag or image.digest, trees.commit(image)


def _pinned(trees: Trees, pin: Pin, changes: Sequence[Change]) -> contains.Published | None:
    """A coupled part whose own repository a change is named of, with its published versions by their tags."""
    repository = called(pin.source)
    if not repository or not any(same(change.repository, repository) for change in changes):
        return None
    tags = _tags(trees.history_of(pin.source))
    listed = tuple((version, tags.get(f"v{version}", tags.get(version))) for version in trees.versions(pin.package))
    known = pin.commit or (tags.get(f"v{pin.version}", tags.get(pin.version)) if pin.version else None)
    return contains.Published(of=pin.name, repository=repository, candidate=(pin.text, known), choices=listed)


def published(sources: Sources, trees: Trees, image: Resolved, either: Collection[str] = _EITHER) -> tuple[contains.Named, ...]:
    """The tags for the same platform with the commit that each was built from, the newest commit first; releases and nightlies
    alike, for either may hold what is wanted. None where the registry does not answer."""
    try:
        tags = sources.registry.tags(image.reference)
    except BumpbotError as error:
        sources.say(f"{image.reference.name}: which tags there are is not known: {error}")
        return ()
    mine = fields(image.reference.tag or "latest", sources.schemes)
    told = [one for tag in tags if unlike(one := fields(tag, sources.schemes), mine, either) is None]
    told.sort(key=lambda one: (str(one.fields.get("date", "")), str(one.fields.get("version", ""))), reverse=True)
    named = built.built([one.tag for one in told[:MOST]], sources.schemes, _tags(trees.history))
    dated = [(date, name, commit) for name, commit in named if commit and (date := _date(trees.history, commit))]
    return tuple((name, commit) for _, name, commit in sorted(dated, reverse=True))


def newer(sources: Sources, trees: Trees, old: Resolved, new: Resolved) -> tuple[contains.Named, ...]:
    """What is published on the candidate's channel after the present image and up to now, the candidate left out."""
    since, now = _date(trees.history, trees.commit(old) or ""), sources.now.isoformat() if sources.now else "9999"
    return tuple((name, commit) for name, commit in published(sources, trees, new, ()) if name != new.reference.tag
                 and since and commit and (date := _date(trees.history, commit)) and since < date <= now)


def _tags(history: History | None) -> Mapping[str, str]:
    try:
        return history.tags() if history is not None else {}
    except BumpbotError:
        return {}


def _date(history: History | None, commit: str) -> str | None:
    try:
        return history.commit(commit).date if history is not None else None
    except BumpbotError:
        return None
