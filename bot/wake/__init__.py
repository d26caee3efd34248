"""One run of the bot: it looks, decides, claims, acts, records and exits. Waiting is returning."""
