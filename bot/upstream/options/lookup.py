"""Which option a written name means, as the engine's parser would take it."""

from __future__ import annotations

from msgspec import Struct

from bot.upstream.options.facts import Option, Surveyed, dashed


class Meant(Struct, frozen=True, kw_only=True):
    """The option, or the several that a shortened name could mean; `exact`: it is written out."""

    options: tuple[Option, ...] = ()
    exact: bool = False

    @property
    def one(self) -> Option | None:
        return self.options[0] if len(self.options) == 1 else None


def meant(survey: Surveyed, name: str) -> Meant:
    """`--max-model-len`, `--no-enable-x`, `--compilation-config.mode`, `-tp`, a beginning of a name, or a configuration's key."""
    said = dashed(name.partition(".")[0]) if name.startswith("--") else name
    exact = survey.option(name) or survey.option(said)
    if exact is None and said.startswith("--no-") and (positive := survey.option("--" + said[5:])):
        exact = positive
    if exact is None and not name.startswith("-"):
        exact = _open_key(survey, name)
    if exact is None and len(said) > 2 and said[0] == "-" and said[1] != "-" and said[:2] in survey.options:
        exact = survey.options[said[:2]]  # -O3
    if exact is not None:
        return Meant(options=(exact,), exact=True)
    if not survey.abbreviates or not said.startswith("--") or "." in name:
        return Meant()
    found = {id(option): option for key, option in survey.options.items() if key.startswith(said)}
    return Meant(options=tuple({(option.dest, option.names): option for option in found.values()}.values()))


def _open_key(survey: Surveyed, name: str) -> Option | None:
    """A key inside one whose own keys nobody lists: what stands there is the business of whoever takes it."""
    while "." in name:
        name = name.rpartition(".")[0]
        found = survey.option(name)
        if found is not None:
            listed = any(key.startswith(f"{found.names[0]}.") for key in survey.options)
            return None if listed else found
    return None
