"""How reading a comment for commands grows with its length, for texts made to be slow: ratios within one run.

    python -m benchmarks.comments

A row is a piece that a text of 65,536 letters is made of: how often as long as for half of it, and as for plain words. Twice is
linear, four times quadratic; a quadratic one is harmless while it stays near the plain one, since no comment is longer.
"""

from __future__ import annotations

from time import perf_counter

from bot.commands import LIMIT, parse

PIECES = ("some words, ", "`", "`a", "[", "![a](", "<", "<!--", "> ", "- ", "*a ", "**_", "&", "| a |\n", "- ```\n  ~~~\n", "[x]: ")
WHOLE = LIMIT - 13
ROUNDS = 3


def seconds(text: str) -> float:
    """The best of a few readings."""
    best = float("inf")
    for _ in range(ROUNDS):
        began = perf_counter()
        parse(f"{text}\n\n/bump stop")
        best = min(best, perf_counter() - began)
    return best


def main() -> None:
    plain = seconds((PIECES[0] * LIMIT)[:WHOLE])
    print(f"{'piece':<16} {'twice as long':>14} {'to plain words':>15}")
    for piece in PIECES:
        whole, half = (seconds((piece * LIMIT)[:length]) for length in (WHOLE, WHOLE // 2))
        print(f"{piece!r:<16} {whole / half:>14.1f} {whole / plain:>15.1f}")


if __name__ == "__main__":
    main()
