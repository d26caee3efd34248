"""What bumpbot asks of the world, one protocol a part of it. Adapters satisfy them; rehearsals and tests put fakes behind.

Every method raises `Unreachable` when the world does not answer, `Missing` for a 404, `Conflict` when somebody moved
first. Nothing here decides anything.
"""

from bot.ports.bench import Answer, Interrupts, Programs, Running, Web
from bot.ports.files import Git, Tree
from bot.ports.forge import Forge, Neighbours, Settings
from bot.ports.machine import Clock, Fleet, Generator, Process
from bot.ports.registry import Registry
from bot.ports.results import Archive, Published
from bot.ports.upstream import Commits, History, Surveyor, Upstreams

__all__ = ["Answer", "Archive", "Clock", "Commits", "Fleet", "Forge", "Generator", "Git", "History", "Interrupts", "Neighbours",
           "Process", "Programs", "Published", "Registry", "Running", "Settings", "Surveyor", "Tree", "Upstreams", "Web"]
