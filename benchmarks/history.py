"""How long an upstream's history is asked, from a local clone: a comparison with its ranked commits, and changes over all tags.

    python -m benchmarks.history [REPOSITORY OLD NEW]

Without a repository one is written first: 18,000 commits on one line, 3,000 of them between the two images, some 3,000 files, five
release branches with cherry-picks and 400 tags. The line that counts is the whole comparison, which must be under 3 s.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import TypeVar

from bot.adapters.process import LocalProcess
from bot.adapters.upstream.clone import Clone
from bot.adapters.upstream.told import CloneHistory
from bot.model.upstream import Comparison, Contained
from bot.model.uses import Used, Uses, Written
from bot.upstream.changes import parsed
from bot.upstream.compare import compared
from bot.upstream.contains import Published, contained
from bot.upstream.engines import Engine

T = TypeVar("T")
COMMITS, BETWEEN, FILES, ROUNDS, NAME = 18_000, 3_000, 3_000, 3, "o/engine"
PARSER = "engine/args.py"
ENGINE = Engine(repositories=(NAME,), module="engine", package="engine", parsers=(PARSER,))
USES = Uses(engine="engine", words=("minimax_m3", "gb300", "part7"), options=tuple(
    Used(kind="option", name=f"--option-{number}", value="1", at=Written(file="r.yaml")) for number in range(0, 200, 10)))


def stream(draw: random.Random) -> Iterator[bytes]:
    """A history of realistic shape for fast-import: two to six small changes a commit, a parser that changes often."""
    paths = [f"engine/part{number % 40}/{'file' if number % 20 else 'minimax_m3_'}{number}.py" for number in range(FILES)]
    lines = [f"    option_{number}: int = 0\n" for number in range(200)]

    def commit(mark: int, branch: str, title: str, body: str, parent: int | None, files: dict[str, str]) -> bytes:
        text = f"{title}\n\n{body}\n" + "Signed-off-by: Some Body <some.body@example.org>\n" * 4
        rows = [f"commit refs/heads/{branch}\nmark :{mark}\ncommitter c <c@example.org> {1_700_000_000 + mark * 900} +0000\n"
                f"data {len(text)}\n{text}\n", *([f"from :{parent}\n"] if parent else [])]
        rows += [f"M 100644 inline {path}\ndata {len(data)}\n{data}\n" for path, data in files.items()]
        return "".join(rows).encode()

    content = {path: f"x = {number}\n" * 40 for number, path in enumerate(paths)}
    yield commit(1, "main", "Begin", "", None, {**content, PARSER: "".join(lines)})
    for mark in range(2, COMMITS + 1):
        chosen = draw.sample(paths, draw.randint(2, 6))
        files = {path: content[path].replace("x", f"y{mark}", 1) for path in chosen}
        if mark % 12 == 0:
            at = draw.randrange(200)
            lines[at] = f"    option_{at}: int = {mark}\n"
            files[PARSER] = "".join(lines)
        revert = mark % 500 == 0
        title = f"[Part] Change number {mark} (#{mark})"
        title = f'Revert "[Part] Change number {mark - 40} (#{mark - 40})" (#{mark})' if revert else title
        yield commit(mark, "main", title, f"This reverts commit {'0' * 40}." if revert else "It is better now.\n" * 6, None, files)
    for number in range(5):
        start = COMMITS - 3000 + 600 * number
        for pick in range(8):
            mark = COMMITS + 1 + number * 10 + pick
            yield commit(mark, f"release/{number}", f"[Part] Change number {start + pick + 9} (#{start + pick + 9}) (#{mark})", "",
                         start if not pick else None, {paths[pick]: f"picked = {mark}\n"})
    yield from (f"reset refs/tags/t{number}\nfrom :{COMMITS - 9 * number}\n\n".encode() for number in range(400))


def written(folder: Path) -> tuple[str, str, str]:
    """The repository, the old commit and the new one."""
    subprocess.run(["git", "init", "-q", "--bare", "--initial-branch=main", str(folder)], check=True)
    subprocess.run(["git", "fast-import", "--quiet"], cwd=folder, input=b"".join(stream(random.Random(7))), check=True)
    subprocess.run(["git", "repack", "-adq"], cwd=folder, check=True)
    ids = subprocess.run(["git", "rev-list", "--first-parent", f"--max-count={BETWEEN + 1}", "main"], cwd=folder, check=True,
                         capture_output=True).stdout.decode().split()
    return str(folder), ids[-1], ids[0]


def best(ask: Callable[[], T]) -> tuple[float, T]:
    """The best of a few rounds, and the last answer."""
    times = []
    for _ in range(ROUNDS):
        began = perf_counter()
        answer = ask()
        times.append(perf_counter() - began)
    return min(times), answer


def measured(source: str, old: str, new: str) -> None:
    """Each round begins with nothing read."""
    class Near:
        def __init__(self) -> None:
            self.history = CloneHistory(Clone(LocalProcess(), source, Path("/nonexistent")))
            self.compare = self.history.compare

    def comparison() -> tuple[Comparison, ...]:
        near = Near()
        return compared(near, near.history, NAME, old, new, USES, ENGINE)

    spent, found = best(comparison)
    last = found[-1]
    print(f"{'a comparison':<34} {spent:>7.2f} s   {last.ahead} commits, {last.concerning} concern the recipe (best of {ROUNDS})")
    tags = sorted(Near().history.tags().items(), reverse=True)
    number = next((one.pull for one in last.commits if one.pull), 1)
    changes = [parsed(f"#{number}", NAME, "must-have"), parsed(last.commits[len(last.commits) // 2].sha, NAME, "must-not-have"),
               parsed("#999999999", NAME, "must-not-have")]

    def changed() -> tuple[Contained, ...]:
        history = Near().history
        return contained(lambda repository: history, changes, [Published(of="x", repository=NAME, candidate=("new", new),
                                                                        choices=tuple(tags))])

    spent, told = best(changed)
    what = f"three changes over {len(tags)} tags"
    print(f"{what:<34} {spent:>7.2f} s   {len(told[0].choices)} choices looked at (best of {ROUNDS})")


def main() -> None:
    if len(sys.argv) == 4:
        measured(*sys.argv[1:])
        return
    with tempfile.TemporaryDirectory() as folder:
        measured(*written(Path(folder) / "engine.git"))


if __name__ == "__main__":
    main()
