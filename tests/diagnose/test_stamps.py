"""The heads of log lines as the engines, their frontends, their libraries and the runner write them."""

from __future__ import annotations

from datetime import date

import pytest

from bot.diagnose.stamps import Days, Stamp, earliest, head

NOON = 12 * 3600.0


class TestHead:
    @pytest.mark.parametrize(
        ("text", "body", "key", "stamp", "level"),
        [
            (
                "(EngineCore pid=7) ERROR 09-10 12:00:00 [core.py:9]   File",
                "  File",
                "EngineCore pid=7",
                Stamp("09-10", NOON),
                "error",
            ),
            (
                "2026-09-10T12:00:00.500Z  WARN dynamo_parsers::x: drop",
                "dynamo_parsers::x: drop",
                "",
                Stamp("2026-09-10", NOON + 0.5),
                "warn",
            ),
            ("2026-09-10 12:00:00,500 - aiperf.x - ERROR - boom", "boom", "", Stamp("2026-09-10", NOON + 0.5), "error"),
            ("[12:00:00] hello", "hello", "", Stamp("", NOON), None),
            (
                "[2026-09-10 12:00:00 TP0] Scheduler hit an exception",
                "Scheduler hit an exception",
                "TP0",
                Stamp("2026-09-10", NOON),
                None,
            ),
            ("[rank3]:[E910 12:00:00.5 Nccl.cpp:6] boom", "boom", "[rank3]", Stamp("09-10", NOON + 0.5), "error"),
            ("2026-09-10T14:00:00+02:00 ##[error]boom", "boom", "", Stamp("2026-09-10", NOON), "error"),
            (
                "2026-09-10T12:00:01.1234567Z (A pid=7) INFO 09-10 12:00:00 [a.py:1] hi",
                "hi",
                "A pid=7",
                Stamp("09-10", NOON),
                "info",
            ),
            ("ERROR: boom", "boom", "", None, "error"),
            ("3: srun says", "srun says", "3", None, None),
            ("    2026-09-10 12:00:00 indented is body", "    2026-09-10 12:00:00 indented is body", "", None, None),
            ("[99:99:99] no time", "[99:99:99] no time", "", None, None),
        ],
    )
    def test_is_taken_apart(self, text, body, key, stamp, level):
        taken = head(text)
        assert (taken.body.removeprefix("[99:99:99] "), taken.key, taken.stamp, taken.level) == (
            body.removeprefix("[99:99:99] "),
            key,
            stamp,
            level,
        )

    def test_json_lines_tell_time_and_level_by_name(self):
        taken = head('{"time":"2026-09-10T12:00:00Z","level":"ERROR","message":"boom"}')
        assert (taken.stamp, taken.level) == (Stamp("2026-09-10", NOON), "error")


class TestDays:
    BASE = date(2026, 9, 10)

    def moments(self, *stamps: Stamp) -> list[float]:
        days = Days(self.BASE)
        return [days.moment(stamp) for stamp in stamps]

    def test_all_ways_to_tell_a_day_agree(self):
        assert len({self.moments(Stamp(day, NOON))[0] for day in ("2026-09-10", "09-10", "")}) == 1

    def test_midnight_starts_the_next_day(self):
        evening, night = self.moments(Stamp("", 86_000.0), Stamp("", 100.0))
        assert night - evening == 500.0

    def test_a_year_that_is_not_told_is_the_nearest(self):
        days = Days(date(2027, 1, 1))
        assert days.moment(Stamp("12-31", 0.0)) == days.moment(Stamp("2026-12-31", 0.0))

    def test_days_that_do_not_exist_break_nothing(self):
        assert self.moments(Stamp("13-77", 0.0), Stamp("2026-02-31", 0.0), Stamp("02-29", 0.0))

    def test_the_base_is_the_first_whole_date_told(self):
        assert earliest([Stamp("09-11", 0), Stamp("2026-09-10", 0), Stamp("2026-09-12", 0), Stamp("2026-99-99", 0)]) == self.BASE
        assert earliest([]) == date(2000, 3, 1)
