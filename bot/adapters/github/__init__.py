"""The Forge port on GitHub: reads over httpx into our own records, mutations through PyGithub, one fold for errors."""

from bot.adapters.github.forge import GitHubForge

__all__ = ["GitHubForge"]
