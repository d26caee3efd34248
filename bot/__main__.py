"""`python -m bot` is `bumpbot`."""

from bot.cli import main

if __name__ == "__main__":
    main()
