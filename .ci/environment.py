"""Makes a virtual environment, or says in one line why it cannot and what to install. Run by the Makefile.

It is read by whatever `python3` a machine has, however old, so it keeps to syntax that Python 2 could parse.
"""
# ruff: noqa: UP031

import os
import subprocess
import sys

OLDEST = (3, 11)


def main(folder):
    """0 when `folder` holds a working environment; otherwise one line on standard error and 1."""
    have = sys.version_info[:2]
    if have < OLDEST:
        return say(
            "bumpbot needs Python %d.%d or newer, and %s is %d.%d." % (OLDEST + (sys.executable or "this one",) + have),
            "Choose another, for instance: make install PYTHON=python3.11",
        )
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        return say(
            "this Python (%s) has no venv with pip." % sys.executable,
            "On Debian and Ubuntu install it with: apt-get install %s" % package(have),
        )
    if works(os.path.join(folder, "bin", "python")):
        return 0
    made = subprocess.call([sys.executable, "-m", "venv", "--clear", folder])
    if made or not works(os.path.join(folder, "bin", "python")):
        return say("%s -m venv could not make %s." % (sys.executable, folder), "Its own message stands above.")
    return 0


def package(have):
    """The Debian package that completes this Python: the distribution's own one has a name without a version."""
    own = os.path.realpath("/usr/bin/python3") == os.path.realpath(sys.executable)
    return "python3-venv" if own else "python%d.%d-venv" % have


def works(python):
    """Whether an interpreter starts and has pip: a copied or moved environment does not."""
    if not os.path.exists(python):
        return False
    with open(os.devnull, "w") as nowhere:
        return subprocess.call([python, "-c", "import pip"], stdout=nowhere, stderr=nowhere) == 0


def say(reason, hint):
    """One line for a person, and the exit status of a refusal."""
    sys.stderr.write("%s %s\n" % (reason, hint))
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
