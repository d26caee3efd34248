"""Other tools' own change-point code, from their packages: Apache Otava (`compute_change_points`) and asv (`detect_steps`,
`detect_regressions`). They live in an environment of their own, since Otava pins another numpy.

This file is also the program that runs there: it reads JSON from stdin and imports nothing of bumpbot.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

PACKAGES = {"Otava": "apache-otava==0.8.0", "asv": "asv==0.6.6"}
INSTALL_S, LIMIT_S = 900, 1800


def environment(folder: Path) -> Path | str:
    """The Python of an environment that holds the packages, made in `folder` where absent; else why it cannot be had."""
    python = folder / "bin" / "python"
    stamp = folder / " ".join(PACKAGES.values())
    if stamp.exists():
        return python
    print(f"installing {', '.join(PACKAGES.values())} into {folder}", file=sys.stderr)
    for command in ([sys.executable, "-m", "venv", str(folder)],
                    [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", *PACKAGES.values()]):
        made = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S)
        if made.returncode:
            return f"{' '.join(command[1:])} failed: {made.stderr.strip()[-200:]}"
    stamp.touch()
    return python


def alarms(python: Path, package: str, sweeps: list[list[list[float]]], signs: list[float], *, at: int,
           **options: float) -> list[bool]:
    """For each sweep whether any of its series (of which +1 says that more is better, -1 that less is) has a change for the
    worse at index `at`. Options: `magnitude`, the least share that counts, and for Otava `p`."""
    asked = json.dumps({"package": package, "sweeps": sweeps, "signs": signs, "at": at, **options})
    # -I: neither this folder nor PYTHONPATH, where a module of the same name could stand, is looked through.
    made = subprocess.run([str(python), "-I", __file__], input=asked, capture_output=True, text=True, timeout=LIMIT_S)
    if made.returncode:
        raise SystemExit(f"{package} ended with {made.returncode}: {made.stderr.strip()[-500:]}")
    told: list[bool] = json.loads(made.stdout)
    return told


def _otava(series: list[float], sign: float, asked: dict[str, Any]) -> bool:
    from otava.analysis import compute_change_points  # type: ignore[import-not-found]

    found, _ = compute_change_points(series, max_pvalue=asked["p"], min_magnitude=asked["magnitude"])
    return any(point.index == asked["at"] and sign * (point.stats.mean_2 - point.stats.mean_1) < 0 for point in found)


def _asv(series: list[float], sign: float, asked: dict[str, Any]) -> bool:
    from asv.step_detect import detect_regressions, detect_steps  # type: ignore[import-not-found]

    times = series if sign < 0 else [1 / value for value in series]  # it knows times, of which less is better
    _, _, found = detect_regressions(detect_steps(times), threshold=asked["magnitude"])
    return any(after == asked["at"] for _, after, *_ in found or ())


def main() -> None:
    asked = json.load(sys.stdin)
    worse = {"Otava": _otava, "asv": _asv}[asked["package"]]
    json.dump([any(worse(series, sign, asked) for series, sign in zip(sweep, asked["signs"], strict=True))
               for sweep in asked["sweeps"]], sys.stdout)


if __name__ == "__main__":
    main()
