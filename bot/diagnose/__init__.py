"""Logs to the first server-side error, its class and its known repair. Pure: streams and bytes in, records out."""
