"""What a plan asks a source of baselines, and what it then takes, for a test that has one configuration in mind."""

from __future__ import annotations

from msgspec.structs import replace

from bot.baseline import match
from bot.model.baseline import Configuration, Offer, Question
from bot.model.result import Baseline
from bot.ports import Published

EVERY = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


def asked(recipe: str, *, model: str = "", image: str, fingerprint: str, concurrencies: tuple[int, ...] = EVERY,
          identity: str = "", topology: str = "", workload: str = "", **more) -> Question:
    """One configuration with all its concurrencies."""
    one = Configuration(fingerprint=fingerprint, concurrencies=concurrencies, identity=identity, topology=topology,
                        workload=workload)
    return Question(recipe=recipe, model=model, image=image, **{"configurations": (one,), **more})


def baseline(port: Published, recipe: str, *, model: str = "", image: str, fingerprint: str, **more) -> Baseline | None:
    """The baseline of one configuration, at the concurrencies named or else at all that the source offers."""
    question = asked(recipe, model=model, image=image, fingerprint=fingerprint, **more)
    offer = port.offer(question)
    if "concurrencies" not in more:
        told = tuple(sorted({row.point.concurrency for one in offer.sets for row in one.rows if row.metric != "eval"}))
        question = replace(question, configurations=(replace(question.configurations[0], concurrencies=told),))
    found = match(offer, question)
    return found.baseline and replace(found.baseline, notes=(*found.baseline.notes, *found.notes))


class Holding:
    """Satisfies the Published port with the same answer to every question, which it keeps."""

    def __init__(self, offer: Offer) -> None:
        self.held, self.questions = offer, list[Question]()

    def offer(self, question: Question) -> Offer:
        self.questions.append(question)
        return self.held
