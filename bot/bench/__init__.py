"""What a GPU runner executes: launch, check, load, ask, collect; and stop and remove on every way out."""
