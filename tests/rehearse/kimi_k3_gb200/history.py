
"""upstream/vllm.yaml: what is known of the engine's history between the two images."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path


def sha(start: str) -> str:
    """A commit id with the digits the report prints; the rest is invented."""
    return start + hashlib.sha1(start.encode()).hexdigest()[: 40 - len(start)]


def write(folder: Path) -> None:
    (folder / "upstream").mkdir()
    (folder / "upstream/vllm.yaml").write_text(_upstream())


def _upstream() -> str:
    """SEED: short ids, dates, ahead counts, the five titles. INVENTED: the rest of each id, times of day, and how far main
    went between the two branch points (541 commits)."""
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
    )


def _comparison(base: str, head: str, start: str, ahead: int, behind: int) -> str:
    return f"  - base: {sha(base)}\n    head: {sha(head)}\n    merge_base: {sha(start)}\n    ahead: {ahead}\n    behind: {behind}\n"
