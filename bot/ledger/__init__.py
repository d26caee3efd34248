"""What the bot remembers, on one git branch: entries chained by hash, changed by compare-and-swap, replayable."""

from bot.ledger.chain import (
    canonical,
    check_receipt,
    claim_entry,
    pending,
    receipt,
    record_entry,
    unfinished,
    verify,
)
from bot.ledger.lessons import kept, lessons
from bot.ledger.paths import (
    BRANCH,
    LAST_SCAN,
    NEXT,
    OPEN_BUMPS,
    claim_path,
    day_path,
    lesson_path,
    lessons_folder,
    memory_path,
    moved_path,
    next_path,
    result_path,
    results_folder,
    seen_path,
)
from bot.ledger.publish import Published, asked_by, publish
from bot.ledger.reading import learnt, replay, show, text
from bot.ledger.results import LedgerBaselines, sound
from bot.ledger.store import Ledger, wake_id

__all__ = [
    "BRANCH", "LAST_SCAN", "NEXT", "OPEN_BUMPS", "Ledger", "LedgerBaselines", "Published", "asked_by", "canonical",
    "check_receipt", "claim_entry", "claim_path", "day_path", "kept", "learnt", "lesson_path", "lessons", "lessons_folder",
    "memory_path", "moved_path", "next_path", "pending", "publish", "receipt", "record_entry", "replay", "result_path",
    "results_folder", "seen_path", "show", "sound", "text", "unfinished", "verify", "wake_id",
]
