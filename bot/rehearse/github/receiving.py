"""What GitHub refuses when an App pushes: workflow files, which it may change with the `workflows` permission alone.

The rule stands where pushes arrive, in a hook of the bare repository; what the world's people do goes past it, as their
accounts may. Judged is each commit that the repository has not got, against its first parent: a merge that brings main's
workflows to a branch carries them, and a commit upon main's tip does not, whatever it left behind on its other side.
"""

from __future__ import annotations

from pathlib import Path

WORDS = "refusing to allow a GitHub App to create or update workflow `{0}` without `workflows` permission"
_HOOK = f"""#!/bin/sh
# %s is the name of a file, which the shell does not read again.
while read -r old new ref; do
    case "$new" in *[!0]*) ;; *) continue ;; esac
    for commit in $(git rev-list "$new" --not --all); do
        parent=$(git rev-parse --verify --quiet "$commit^1" || git hash-object -t tree /dev/null)
        file=$(git diff --name-only --no-renames "$parent" "$commit" -- .github/workflows | head -n 1)
        if [ -n "$file" ]; then
            printf '{WORDS.format("%s")}\\n' "$file" >&2
            exit 1
        fi
    done
done
"""


def guard(git_dir: Path) -> None:
    """Makes the repository refuse what GitHub refuses to an App without the permission, in GitHub's words."""
    hook = git_dir / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(_HOOK)
    hook.chmod(0o755)
