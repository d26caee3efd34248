"""References, tags, choice and provenance of container images: pure, and told everything they need."""
