"""Files and histories of upstreams, assembled in `sources`: from a clone where git can have one, from GitHub's API where it
cannot, wheels from an index."""
