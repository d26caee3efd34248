"""What the scenarios on bumpbot's own layout are made of. Everything in them is invented, numbers, names and texts."""
