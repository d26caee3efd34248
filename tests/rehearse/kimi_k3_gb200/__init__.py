"""Parts of make_kimi_k3_gb200.py: one file for each kind of file the scenario holds."""
