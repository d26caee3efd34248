"""What a maintainer must have set so that the bot works and nobody can misuse it: facts in, findings out, nothing read here.

`CHECKS` in `bot.doctor.checks` is the table, in the order of what blocks most; one more check is one more row.
"""
