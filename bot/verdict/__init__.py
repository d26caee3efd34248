"""What the numbers mean: findings per metric, one verdict, and the reasons that limit it."""
