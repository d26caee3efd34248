"""What several files say, as one."""
