"""Every recipe with its present image, and what may take that image's place: files first, then each registry once."""

from bot.scan.asking import Look, Scan, Sources, candidates
from bot.scan.reading import recipes

__all__ = ["Look", "Scan", "Sources", "candidates", "recipes"]
