"""Whether a consumer finds in a package all that it imports from it: modules, names, guards, and what its start executes."""

from bot.upstream.imports.asked import checked
from bot.upstream.imports.coupled import coupled, fits, kernels, lacking, newer, pinned

__all__ = ["checked", "coupled", "fits", "kernels", "lacking", "newer", "pinned"]
