"""Every recipe with its present image, and what may take that image's place: files first, then each registry once."""

from bot.scan.asking import Scan, Sources, scan
from bot.scan.proposing import look, proposed
from bot.scan.upstream import histories

__all__ = ["Scan", "Sources", "histories", "look", "proposed", "scan"]
