"""Where a repository keeps its recipes, sites, changelog and workflows, and what it demands of a bump."""

from bot.layout.ask import (
    address_of,
    called,
    editable,
    family,
    fixed,
    guard,
    hardware,
    in_scope,
    platform,
    repository_of,
    rules,
    source_of,
    wanted,
)
from bot.layout.control import lacking
from bot.layout.load import load, resolve
from bot.layout.records import (
    Artifacts,
    Baselines,
    Changelog,
    Evals,
    Families,
    Fixed,
    Hardware,
    Layout,
    Linked,
    Publish,
    RecipeFiles,
    RepairScope,
    Root,
    Scans,
    Smoke,
    Sweep,
)
from bot.layout.schema import schema

__all__ = ["Artifacts", "Baselines", "Changelog", "Evals", "Families", "Fixed", "Hardware", "Layout", "Linked", "Publish",
           "RecipeFiles", "RepairScope", "Root", "Scans", "Smoke", "Sweep", "address_of", "called", "editable", "family",
           "fixed", "guard", "hardware", "in_scope", "lacking", "load", "platform", "repository_of", "resolve", "rules",
           "schema", "source_of", "wanted"]
