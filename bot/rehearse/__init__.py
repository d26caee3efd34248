"""The world on loopback: GitHub, registry, runner, scenarios. It imports nothing that decides; it is a witness."""
