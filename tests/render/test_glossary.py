"""Templates and glossary: the same names and variables in both languages, a term for every word of a closed set."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args, get_type_hints

import jinja2
import pytest
from jinja2 import meta, nodes

from bot.baseline.match import Missing
from bot.decide.classes import CLASSES
from bot.decide.report.parts import PHASE_WORDS
from bot.decide.report.unsettled import MENDS
from bot.model.checklines import State
from bot.model.finding import Check
from bot.model.outcome import ENDINGS, Cause, Mover, Outcome
from bot.model.policy import Answered
from bot.model.result import Judgement
from bot.model.run import Reason
from bot.model.text import Text
from bot.model.upstream import Doubt
from bot.render.words import Words
from bot.verdict.words import REASONS
from tests.render.catalogue import CATALOGUE, GLOSSARY, TEMPLATES, renderer

NAMES = sorted(name.partition("/")[2] for name in TEMPLATES if name.startswith("en/"))
ENVIRONMENT = renderer()._written["en"].markdown
# The terms of the repository's table that a sentence of ours would otherwise be free to render differently.
TABLE = {"image": "镜像", "sweep": "扫描", "artifacts": "产物", "eval": "评测", "baseline": "基线", "recipe": "配方",
         "threshold": "阈值",
         "concurrency": "并发", "workload": "工作负载", "topology": "拓扑", "GPU-hour": "GPU 小时",
         "speculative decoding": "投机解码"}


def shape(name: str) -> dict[str, object]:
    """Variables, attributes and filters that a template uses, whatever it says around them."""
    tree = ENVIRONMENT.parse(TEMPLATES[name])
    return {
        "variables": meta.find_undeclared_variables(tree),
        "fields": sorted(node.attr for node in tree.find_all(nodes.Getattr)),
        "conditions": sum(1 for _ in tree.find_all(nodes.If)),
        "loops": sum(1 for _ in tree.find_all(nodes.For)),
    }


class TestTemplates:
    def test_have_the_same_names_in_both_languages(self) -> None:
        assert NAMES == sorted(name.partition("/")[2] for name in TEMPLATES if name.startswith("zh/"))

    @pytest.mark.parametrize("name", NAMES)
    def test_use_the_same_variables(self, name: str) -> None:
        english, chinese = shape(f"en/{name}"), shape(f"zh/{name}")
        assert english["variables"] == chinese["variables"]
        assert set(english["fields"]) == set(chinese["fields"])
        assert english["loops"] == chinese["loops"]

    @pytest.mark.parametrize("name", NAMES)
    def test_name_only_terms_that_exist(self, name: str) -> None:
        used = re.findall(r'"([a-z-]+)" \| word', TEMPLATES[f"en/{name}"] + TEMPLATES[f"zh/{name}"])
        assert set(used) <= set(GLOSSARY)

    def test_are_used_by_the_catalogue_every_one(self) -> None:
        opened: set[str] = set()

        class Loader(jinja2.DictLoader):
            def get_source(self, environment: jinja2.Environment, template: str) -> tuple:
                opened.add(template)
                return super().get_source(environment, template)

        one = renderer(templates={**TEMPLATES, "of this test alone": ""})  # so that nobody else gets its environments
        for written in one._written.values():
            written.markdown.loader = written.bare.loader = Loader(TEMPLATES)
        for style in ("full", "folded"):
            one._style = style
            for record in CATALOGUE.values():
                one.parts(record)
        one.title(CATALOGUE["the body"])
        assert opened == set(TEMPLATES)


CLOSED = {
    "": [*(outcome.value for outcome in Outcome), *get_args(Mover), *PHASE_WORDS.values()],
    "cause-": [cause.value for cause in Cause],
    "retry-": [outcome.value for outcome, end in ENDINGS.items() if end.retry],
    "verdict-": list(get_args(Judgement)),
    "because-": list(REASONS),
    "class-": list(CLASSES),
    "reason-": list(get_args(Reason)),
    "conclusion-": ["running", "success", "failure", "cancelled", "skipped", "timed_out", "neutral", "stale", "action_required",
                    "startup_failure"],
    "result-": ["waiting", "running", "passed", "failed", "cancelled"],
    "missing-": ["no-baseline", "not-measured", "not-published", "eval-not-comparable"],
    "absent-": ["not-published", "baseline-unreachable", *get_args(Missing)],
    "mend-": ["published", *MENDS.values()],
    "next-": ["smoke-running", "repair", "retry", "sweep", "stop"],
    "provenance-": ["label", "tag", "none"],
    "about-": ["label-waits", "sweep-needs-approval", "sweep-held", "sweep-questions", "smoke-held"],
    "note-": ["baseline-unverifiable:{}", "eval-not-comparable:{}:gone", "points-gone:{}", "points-new:{}", "baseline-single",
              "fingerprint-unknown"],
    "check-": list(get_args(Check)),
    "state-": list(get_args(State)),
    "doubt-": list(get_args(Doubt)),
    "hint-": [how if how == "none" else f"{how}:{{}}" for how in get_args(get_type_hints(Answered)["how"])],
    "answered-": list(get_args(get_type_hints(Answered)["answer"])),
    "same-": ["digest", "tag"],
    "setting-": ["workload", "topology", "mode", "gpus", "nodes", "concurrency", "speculation", "speculative-tokens",
                 "synthetic-acceptance",
                 "offload", "offload-backend", "offload-gb", "router", "max-num-seqs", "dynamo", "kv", "revision", "channel"],
}


class TestGlossary:
    @pytest.mark.parametrize("prefix", CLOSED)
    def test_has_a_term_for_every_word(self, prefix: str) -> None:
        assert [word for word in CLOSED[prefix] if f"{prefix}{word}" not in GLOSSARY] == []

    def test_says_everything_in_both_languages(self) -> None:
        assert not [term for term, text in GLOSSARY.items() if not text.en.strip() or not text.zh.strip()]
        kept = {"n", "head", "setting-max-num-seqs", "setting-dynamo", "stat-p90", "stat-p99"}
        assert {term for term, text in GLOSSARY.items() if not re.search(r"[\u4e00-\u9fff]", text.zh)} == kept
        assert not [term for term, text in GLOSSARY.items() if re.search(r"[\u3000-\uffef]", text.en)]

    def test_renders_a_word_in_one_way_alone(self) -> None:
        renderings: dict[str, set[str]] = {}
        for text in GLOSSARY.values():
            renderings.setdefault(text.en.casefold(), set()).add(text.zh)
        assert {english: chinese for english, chinese in renderings.items() if len(chinese) > 1} == {}

    def test_renders_the_terms_of_the_target_repository_as_its_table_does(self) -> None:
        wrong = [
            (term, english) for term, text in GLOSSARY.items() for english, chinese in TABLE.items()
            if re.search(rf"\b{english}s?\b", text.en) and chinese not in text.zh
        ]
        assert wrong == []

    def test_holds_the_same_numbers_and_places_in_both_languages(self) -> None:
        for text in GLOSSARY.values():
            assert sorted(re.findall(r"\d+|\{\d\}", text.en)) == sorted(re.findall(r"\d+|\{\d\}", text.zh))

    def test_a_pattern_fills_every_place_it_names(self) -> None:
        for term, text in GLOSSARY.items():
            places = set(re.findall(r"\{\d\}", text.en))
            if not term.startswith("stat-"):
                assert len(places) == term.count("{}")


class TestWordsOfOpenSets:
    ENGLISH, CHINESE = (Words(language, GLOSSARY) for language in ("en", "zh"))

    def test_carry_their_values(self) -> None:
        told = self.ENGLISH.told("points-gone:32", "note")
        assert told == "concurrency `32` was published, which the recipe does not run any more"
        assert self.CHINESE.told("partial-sweep:c16", "because") == "测点 `c16` 在一侧缺失"

    def test_without_a_term_for_the_value_it_stands_beside_the_word(self) -> None:
        assert self.ENGLISH.told("saturated:c8", "because") == "saturated points wait in a queue and are not judged (`c8`)"
        assert self.CHINESE.told("saturated:c8", "because") == "饱和测点处于排队状态，不参与判断（`c8`）"

    def test_that_nobody_knows_are_shown_as_they_are(self) -> None:
        assert self.ENGLISH.told("a new `reason`|x", "because") == "`a new 'reason'|x`"

    def test_of_a_value_no_places_are_taken(self) -> None:
        assert self.ENGLISH.told("points-from-runs:{0}, 5", "note") == "the points come from several runs: `{0}, 5`"

    def test_end_a_sentence_once(self) -> None:
        assert self.ENGLISH.sentence(Text("it is so", "如此")) == "it is so."
        assert self.CHINESE.sentence(Text("it is so.", "如此。")) == "如此。"
        assert self.CHINESE.sentence(Text("it is so", "如此")) == "如此。"


class TestEveryNoteOfABaseline:
    def test_that_a_source_of_baselines_writes_has_its_words(self) -> None:
        """A note is a word, a value may follow its colon; one without an entry would be shown as code in both halves."""
        root = Path(__file__).parents[2] / "bot"
        written = "".join((root / name).read_text() for name in ("adapters/published.py", "adapters/published_rows.py", "baseline/match.py",
                                                             "baseline/freeze.py"))
        words = set(re.findall(r'"([a-z]+(?:-[a-z]+)+)(?::\{|")', written)) - {"workflow-info", *get_args(Missing)}
        assert {"evals-unknown", "head-unpublished", "points-from-runs", "baseline-single"} <= words | {"head-unpublished"}
        glossary = (root / "knowledge/glossary.yaml").read_text()
        assert [word for word in words if f"note-{word}:" not in glossary] == []
