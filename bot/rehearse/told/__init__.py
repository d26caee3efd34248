"""What a scenario tells of the world beside its forge, behind the ports by which the bot asks for it."""
