"""Both languages of a record say the same: every number, id, link, code span, digest and word of a closed set."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

import pytest
from msgspec.structs import replace

from bot.model.text import Text
from tests.render.catalogue import CATALOGUE, GLOSSARY, PROPOSAL, TEMPLATES, renderer
from tests.render.markdown import facts, said

FULL = renderer()
ALL = pytest.mark.parametrize("name", CATALOGUE)
SEAM = re.compile(r"[\u4e00-\u9fff][A-Za-z0-9`]|[A-Za-z0-9`%][\u4e00-\u9fff]")
CHINESE = re.compile(r"[\u3000-\u30ff\u4e00-\u9fff\uff00-\uffef]")


class Watched(Mapping[str, Text]):
    """The glossary, and which of its terms were asked for."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def __getitem__(self, term: str) -> Text:
        self.asked[term] += 1
        return GLOSSARY[term]

    def __iter__(self) -> Iterator[str]:
        return iter(GLOSSARY)

    def __len__(self) -> int:
        return len(GLOSSARY)

    def __contains__(self, term: object) -> bool:
        return term in GLOSSARY


# A renderer whose glossary tells what it was asked for. Its first template is of nobody else, or others would share it.
WATCHED = renderer(templates={**TEMPLATES, "of these tests alone": ""})
GLOSSARIES = {language: Watched() for language in WATCHED._written}


def asked(language: str) -> Counter[str]:
    """What was asked for since this was last called."""
    told, GLOSSARIES[language].asked = GLOSSARIES[language].asked, Counter()
    return told


for _language, _written in WATCHED._written.items():
    _written.words._glossary = GLOSSARIES[_language]


class TestBothHalvesOfEveryRecord:
    @ALL
    def test_hold_the_same_facts(self, name: str) -> None:
        for tables in (True, False):
            english, chinese = (facts(FULL.half(CATALOGUE[name], language, tables=tables)) for language in ("en", "zh"))
            assert english == chinese, f"tables: {tables}"

    @ALL
    def test_use_the_same_words_of_closed_sets(self, name: str) -> None:
        english, chinese = ((WATCHED.half(CATALOGUE[name], language), asked(language))[1] for language in ("en", "zh"))
        assert english == chinese

    @pytest.mark.parametrize("language", GLOSSARIES)
    def test_ask_for_every_word_when_a_record_is_rendered(self, language: str) -> None:
        """Jinja would look a constant term up when it compiles, once, and the test above would not see it again."""
        for name in TEMPLATES:
            WATCHED._written[language].markdown.compile(TEMPLATES[name])
        assert not asked(language)
        WATCHED.half(PROPOSAL, language)
        assert asked(language)["provenance-tag"]

    @ALL
    def test_have_as_many_list_items_and_table_rows(self, name: str) -> None:
        one = FULL
        shapes = [Counter(re.findall(r"(?m)^(- |\| |## |### |---$)", one.half(CATALOGUE[name], language)))
                  for language in ("en", "zh")]
        assert shapes[0] == shapes[1]

    @ALL
    def test_the_english_half_is_english(self, name: str) -> None:
        assert not CHINESE.search(FULL.half(CATALOGUE[name], "en"))

    @ALL
    def test_chinese_and_latin_stand_apart_as_the_seed_has_them(self, name: str) -> None:
        half = FULL.half(CATALOGUE[name], "zh").replace("`", "`")
        assert not [half[max(0, found.start() - 10):found.end() + 10] for found in SEAM.finditer(half)]

    @ALL
    def test_no_n_a_stands_alone(self, name: str) -> None:
        for language in ("en", "zh"):
            words = said(FULL.half(CATALOGUE[name], language))
            assert all(re.match(r"N/A(?: \(|（|: |：)", words[found.start():]) for found in re.finditer("N/A", words))


class TestTheTitle:
    def test_names_recipe_and_tag_in_both_languages_english_first(self) -> None:
        title = renderer().title(PROPOSAL)
        english, chinese = title.split(" / ")
        assert english.startswith("[Klaud Cold] Update kimik3-fp4-gb200")
        assert english.endswith("to nightly-dev-arm64-cu13-3696c77 (digest-pinned)")
        assert chinese.startswith("将 kimik3-fp4-gb200")
        assert chinese.endswith("的镜像更新至 nightly-dev-arm64-cu13-3696c77（按 digest 固定）")

    def test_keeps_within_the_forges_256_characters_by_shortening_the_recipe(self) -> None:
        for more in range(1, 200, 7):
            title = renderer().title(replace(PROPOSAL, recipe="k" * 60 + "x" * more))
            assert len(title) <= 256
            assert title.count("nightly-dev-arm64-cu13-3696c77") == 2

    def test_is_no_markdown(self) -> None:
        assert "a_b*c" in renderer().title(replace(PROPOSAL, recipe="a_b*c"))
