"""What is kept between two scans stays within its bound, and many may write it at a time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from bot.adapters.http import Answer
from bot.adapters.registry.cache import Cache
from tests.adapters.cache_files import database, files, sql


class TestItsSize:
    def answer(self, number: int, size: int = 10_000) -> Answer:
        return Answer(url=f"https://r.example/v2/a/b/manifests/v{number}", status=200, headers={}, body=b"%9d" % number * (size // 9))

    def test_is_bounded_and_what_was_of_use_last_stays(self, tmp_path):
        cache = Cache(tmp_path, max_bytes=400_000)
        for number in range(100):
            answer = self.answer(number)
            cache.keep(answer.url, "anonymous", answer, at=0.0)
            if kept := cache.find(self.answer(0).url, ["anonymous"]):
                cache.touch(self.answer(0).url, kept)
        cache.close()
        assert sum(path.stat().st_size for path in files(tmp_path)) <= 400_000
        assert cache.find(self.answer(0).url, ["anonymous"]) and cache.find(self.answer(99).url, ["anonymous"])
        assert cache.find(self.answer(1).url, ["anonymous"]) is None
        cache.close()

    def test_follows_a_bound_that_was_lowered_at_the_next_answer(self, tmp_path):
        for bound, numbers in ((400_000, range(30)), (100_000, [30])):
            cache = Cache(tmp_path, max_bytes=bound)
            for number in numbers:
                cache.keep(self.answer(number).url, "anonymous", self.answer(number), at=0.0)
            cache.close()
        assert sum(path.stat().st_size for path in files(tmp_path)) <= 100_000
        assert cache.find(self.answer(30).url, ["anonymous"]) and cache.find(self.answer(29).url, ["anonymous"])
        cache.close()

    def test_what_was_of_use_in_an_earlier_question_outlives_what_came_after_it(self, tmp_path):
        cache = Cache(tmp_path, max_bytes=400_000)
        for number in range(20):
            cache.keep(self.answer(number).url, "anonymous", self.answer(number), at=0.0)
        cache.close()
        cache.touch(self.answer(0).url, cache.find(self.answer(0).url, ["anonymous"]))
        cache.close()
        for number in range(20, 36):
            cache.keep(self.answer(number).url, "anonymous", self.answer(number), at=0.0)
        cache.close()
        found = [number for number in range(36) if cache.find(self.answer(number).url, ["anonymous"])]
        cache.close()
        assert found[0] == 0 and 1 not in found and found[1:] == list(range(found[1], 36))

    def test_hits_alone_rewrite_no_answer(self, tmp_path):
        cache = Cache(tmp_path)
        for number in range(50):
            cache.keep(self.answer(number).url, "anonymous", self.answer(number), at=0.0)
        cache.close()
        before = database(tmp_path).read_bytes()
        for number in range(50):
            cache.touch(self.answer(number).url, cache.find(self.answer(number).url, ["anonymous"]))
        cache.close()
        after = database(tmp_path).read_bytes()
        changed = sum(before[at:at + 4096] != after[at:at + 4096] for at in range(0, len(before), 4096))
        assert len(before) == len(after) and 1 <= changed <= 3

    def test_keeps_no_answer_too_large_or_of_another_status(self, tmp_path):
        cache = Cache(tmp_path)
        cache.keep("https://r.example/a", "anonymous", Answer(url="https://r.example/a", status=404, headers={}, body=b""), at=0.0)
        cache.keep("https://r.example/b", "anonymous", self.answer(1, 9_000_000), at=0.0)
        cache.close()
        assert files(tmp_path) == []

    def test_to_look_makes_no_file(self, tmp_path):
        database(tmp_path).parent.mkdir()
        cache = Cache(tmp_path)
        assert cache.find("https://r.example/a", ["anonymous"]) is None
        cache.close()
        assert files(tmp_path) == []

    def test_many_may_write_at_a_time_and_each_reads_whole_answers(self, tmp_path):
        answers = [self.answer(number, 100_000) for number in range(4)]

        def work(worker: int) -> int:
            cache, found = Cache(tmp_path, max_bytes=300_000), 0
            for turn in range(60):
                answer = answers[(worker + turn) % 4]
                cache.keep(answer.url, "anonymous", answer, at=0.0)
                kept = cache.find(answers[turn % 4].url, ["anonymous"])
                found += kept is not None
                assert kept is None or kept.answer.body == answers[turn % 4].body
                if turn % 3 == 0:
                    cache.close()
            cache.close()
            return found

        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(work, range(4))) > 0
        assert files(tmp_path) == [database(tmp_path)] and sql(tmp_path, "PRAGMA integrity_check") == [("ok",)]

    def test_two_that_begin_at_once_lose_nothing(self, tmp_path):
        def work(worker: int) -> None:
            cache, answer = Cache(tmp_path), self.answer(worker)
            cache.keep(answer.url, "anonymous", answer, at=0.0)
            cache.close()

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(8)))
        cache = Cache(tmp_path)
        assert all(cache.find(self.answer(worker).url, ["anonymous"]) for worker in range(8))
        cache.close()
