"""Questions to a layout that more than one room asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from bot.errors import Refusal
from bot.layout.globs import matches
from bot.layout.records import Hardware, Layout
from bot.model import rules as facts
from bot.model.policy import Wanted

_NO_HARDWARE = Hardware()
_GITHUB = "https://github.com/"
WORKFLOWS = ".github/workflows/"


def hardware(layout: Layout, runner: str) -> Hardware:
    """What runs under a runner's labels (`self-hosted,h200`): the entry of one, else of its longest part (`b200-dgxc` before
    `b200`)."""
    labels = [label.strip().removeprefix("cluster:").split("-") for label in runner.split(",")]
    names = ("-".join(words[:end]) for words in labels for end in range(len(words), 0, -1))
    return next((layout.hardware[name] for name in names if name in layout.hardware), _NO_HARDWARE)


def platform(layout: Layout, runner: str) -> str:
    """`os/architecture` that an image must have to run there."""
    return hardware(layout, runner).platform


def source_of(layout: Layout, image: str) -> str | None:
    """The engine's source repository for an image named `registry/repository`; None when the layout does not know."""
    names = (image, image.removeprefix("docker.io/"))
    return next((layout.sources[name] for name in names if name in layout.sources), None)


def repository_of(layout: Layout, image: str) -> str | None:
    """The same as people call it; None where the layout does not know it."""
    source = source_of(layout, image)
    return called(source) if source else None


def called(source: str) -> str:
    """What a repository is called by its address: `owner/name` on GitHub, elsewhere host and path, for a mirror is another
    repository. Of a folder only its own name: where it lies is no one's concern."""
    bare = source.rstrip("/").removesuffix(".git")
    if bare.startswith(_GITHUB):
        return bare.removeprefix(_GITHUB)
    scheme, _, rest = bare.rpartition("://")
    return rest if scheme in ("https", "http") else bare.rpartition("/")[2]


def address_of(layout: Layout, repository: str) -> str:
    """Where a repository is read that somebody names: the layout's own source of that name, else its mirror of an `owner/name`,
    else GitHub's. An address, or a folder of this machine, is one already."""
    if "://" in repository or repository.startswith(("/", ".")):
        return repository
    known = {called(source).lower(): source for source in
             (*layout.sources.values(), *(one.source for one in layout.preflight.coupled if one.source))}
    name = repository.lower()
    mirrors = (source for each, source in known.items() if each.endswith(f"/{name}"))
    return known.get(name) or next(mirrors, None) or f"{_GITHUB}{repository}"


def family(layout: Layout, key: str, keys: Iterable[str], alike: Callable[[str], bool] = lambda other: True) -> tuple[str, ...]:
    """The recipes among `keys` that move with `key`, itself included, in the order of `keys`.

    A sibling by suffix is one only where it is `alike` (runs the same image): of 50 real pairs 12 run two images, and
    their people move them apart. A group that is named moves together whatever it runs.
    """
    known, named = tuple(keys), {key}
    for group in layout.families.groups:
        if key in group:
            named.update(group)
    together = set(named)
    for suffix in layout.families.suffixes:
        together.update({member.removesuffix(suffix) for member in together})
        together.update({member + suffix for member in together})
    return tuple(name for name in known if name in named or (name in together and alike(name)))


def fixed(layout: Layout, facts: Mapping[str, str]) -> str | None:
    """Why a recipe with these facts runs an image of its launcher's own; None where it runs what its files say."""
    fitting = (entry for entry in layout.fixed
               if all(matches(glob, facts.get(name, "")) for name, glob in entry.where.items()))
    return next((entry.why for entry in fitting), None)


def wanted(layout: Layout, key: str, own: Wanted | None = None) -> Wanted:
    """How a recipe's image moves: as its own file says, then `policies` (a name before the globs that fit it, a longer glob
    before a shorter one), then `policy`."""
    fitting = [name for name in layout.policies if name == key or matches(name, key)]
    fitting.sort(key=lambda name: (name != key, -len(name), name))
    found = own or Wanted()
    for under in (*(layout.policies[name] for name in fitting), layout.policy):
        found = found.over(under)
    return found


def rules(layout: Layout, *, branch: str) -> facts.Rules:
    """The layout as the facts of one bump, whose branch is `branch` (full name)."""
    smoke, sweep = layout.smoke, layout.sweep
    return facts.Rules(
        smoke=facts.Smoke(workflow=smoke.workflow, ref=smoke.ref, inputs=smoke.inputs, stages=smoke.stages,
                         arguments=smoke.arguments, label=smoke.label) if smoke else facts.Smoke(workflow="", ref=layout.base),
        sweep=facts.Sweep(workflow=sweep.workflow, start=sweep.start, label=sweep.label, drafts=sweep.drafts, labels=sweep.primary,
                         fail_fast=sweep.fail_fast, ref=sweep.ref, inputs=sweep.inputs)
        if sweep else facts.Sweep(workflow="", start="dispatch", label="", ref=layout.base),
        branch=branch, base=layout.base, changelog=layout.changelog is not None, style=layout.style,
        handoff=layout.handoff, hosts=layout.publish.hosts, repository=layout.repository)


def editable(layout: Layout, file: str) -> bool:
    """Whether a bump may change this file: a recipe file, a linked one, the changelog, or one that a repair may change. Never a
    workflow: the App has no permission for them (SECURITY 2), and a push that holds one is refused whole."""
    globs = [glob for entry in layout.recipes for glob in (*entry.globs, *(entry.linked.files if entry.linked else ()))]
    folders = [root.folder for entry in layout.recipes if entry.linked for root in entry.linked.roots]
    return not file.startswith(WORKFLOWS) and (
        any(matches(glob, file) for glob in globs) or any(folder and file.startswith(folder) for folder in folders)
        or (layout.changelog is not None and file == layout.changelog.file)
        or any(matches(glob, file) for glob in layout.scope.files))


def guard(layout: Layout, files: Iterable[str]) -> None:
    """Refusal for the first file that a bump may not change."""
    for file in files:
        if not editable(layout, file):
            raise Refusal(f"{file} is not to be edited by a bump", "no workflow ever is; other files must stand in the layout")


def in_scope(layout: Layout, file: str, path: Sequence[str | int]) -> bool:
    """Whether a repair may change this key of this file: both must be named, and nothing named means nothing allowed."""
    key = ".".join(map(str, path))
    return (any(matches(glob, file) for glob in layout.scope.files)
            and any(matches(glob, key, ".") for glob in layout.scope.keys))
