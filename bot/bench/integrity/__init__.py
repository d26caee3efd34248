"""Stream integrity: every answer of a load, looked at whole. `tally(records(stream), output)` says what an export holds."""

from __future__ import annotations

from bot.bench.integrity.answer import LENGTHS, failure
from bot.bench.integrity.raw import NAME, Record, records
from bot.bench.integrity.tally import Flight, Tally, flight, tally

__all__ = ["LENGTHS", "NAME", "Flight", "Record", "Tally", "failure", "flight", "records", "tally"]
