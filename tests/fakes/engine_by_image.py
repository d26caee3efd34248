"""The small server, with more options where the image that it stands in for is this one: a new image that is slower, or lies.

    python engine_by_image.py TAG "--ttft-ms 400" -- --port 0 --image registry/repo:TAG ...
"""

from __future__ import annotations

import shlex
import sys

from bot.rehearse.engine.process import main

if __name__ == "__main__":
    tag, more, _, *words = sys.argv[1:]
    sys.exit(main([*words, *(shlex.split(more) if any(f":{tag}@" in f"{word}@" for word in words) else [])]))
