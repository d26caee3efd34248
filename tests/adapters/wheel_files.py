"""Wheels and worse archives, written for a test."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path


def wheel(path: Path, files: Mapping[str, str | bytes], *, name: str = "toy", version: str = "1.0") -> Path:
    """A wheel as `build` makes it, in so far as anybody here looks at it."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for inside, text in files.items():
            archive.writestr(inside, text)
        archive.writestr(f"{name}-{version}.dist-info/METADATA", f"Name: {name}\nVersion: {version}\n")
    return path


def linked(path: Path) -> Path:
    """A wheel with a symbolic link in it."""
    info = zipfile.ZipInfo("toy/link.py")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(info, "/etc/passwd")
    return path
