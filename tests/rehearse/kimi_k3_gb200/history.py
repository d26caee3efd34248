
"""upstream/*.yaml: what is known of the engine's history between the two images, and of the coupled pin's after it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

PIN = "ba83080ecd31c1ce918559e576d3c5bc9e092ff1"


def sha(start: str) -> str:
    """A commit id with the digits the report prints; the rest is invented."""
    return start + hashlib.sha1(start.encode()).hexdigest()[: 40 - len(start)]


SCOPED = sha("5d0c41e")
SCOPED_TITLE = "fix(frontend): scope tool parsing to request semantics (#13359)"  # SEED; the commit's id is INVENTED


def write(folder: Path) -> None:
    (folder / "upstream").mkdir()
    (folder / "upstream/vllm.yaml").write_text(_upstream())
    (folder / "upstream/dynamo.yaml").write_text(_dynamo())


def _upstream() -> str:
    """SEED: short ids, dates, ahead counts, the five titles. INVENTED: the rest of each id, times of day, and how far main
    went between the two branch points (541 commits) and after the second (403)."""
    titles = (
        "Support MooncakeStore with hybrid DCP prefix caching",
        "fix k3 hybrid mooncake recompute handling",
        "Enable TokenSpeed MLA for interleaved DCP speculation",
        "Honor DSpark draft load config",
        "Fix DFlash profiling inputs for DCP",
    )
    listed = "    commits:\n" + "".join(
        f"      - sha: {sha(hashlib.sha1(title.encode()).hexdigest()[:7])}\n        title: {json.dumps(title)}\n"
        f"        date: 2026-08-{27 + i // 2}T0{i + 3}:17:0{i}Z\n"
        for i, title in enumerate(titles)
    )
    return (
        "repository: vllm-project/vllm\n"
        "about: >-\n"
        "  Ids are printed in the bump's report with seven digits; the rest of each is invented, and so are the times of day and\n"
        "  the 573 commits between the two development branches (32 of the branch, 541 of main). Only named commits are listed.\n"
        "comparisons:\n"
        + _comparison("925ea7e", "75c2eef", "925ea7e", 18, 0)
        + _comparison("080a66a", "3696c77", "080a66a", 32, 0)
        + listed
        + _comparison("75c2eef", "3696c77", "925ea7e", 573, 18)
        + listed
        + _comparison("main", "75c2eef", "925ea7e", 18, 944)
        + _comparison("main", "3696c77", "080a66a", 32, 403)
        + listed
    )


def _dynamo() -> str:
    """SEED: the pin, the pull request, its title and day. INVENTED: the commit's id, the time of day, the count."""
    return (
        "repository: ai-dynamo/dynamo\n"
        "about: >-\n"
        "  The commit of #13359 has an invented id; how many commits main has after the pin is invented too.\n"
        "comparisons:\n"
        f"  - base: {PIN}\n    head: main\n    merge_base: {PIN}\n    ahead: 212\n    behind: 0\n"
        "    commits:\n"
        f"      - sha: {SCOPED}\n"
        f'        title: "{SCOPED_TITLE}"\n'
        "        date: 2026-08-20T16:42:09Z\n        pull: 13359\n"
    )


def _comparison(base: str, head: str, start: str, ahead: int, behind: int) -> str:
    return f"  - base: {base if base == 'main' else sha(base)}\n    head: {sha(head)}\n    merge_base: {sha(start)}\n    ahead: {ahead}\n    behind: {behind}\n"
