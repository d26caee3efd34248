"""The Registry port over the OCI distribution protocol: many questions at a time, of hosts that are not believed."""

from bot.adapters.registry.client import OciRegistry

__all__ = ["OciRegistry"]
