"""The small server's answers: as long as asked, right, or wrong as planted, in OpenAI's shapes."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from bot.rehearse.engine import tokens
from bot.rehearse.engine.process import beside
from bot.rehearse.engine.schema import Filled, arithmetic
from tests.rehearse.engine.asking import FAST, MODEL, TOOL, Streamed, chat, first, fixed, post

WEATHER = "How is the weather in Paris for 3 days?"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with beside(*FAST) as server:
        yield server.url


class TestTheLength:
    def test_is_exact_where_the_end_is_ignored(self, url: str) -> None:
        answer = post(url, fixed(37)).json()
        assert answer["usage"]["completion_tokens"] == 37 and answer["choices"][0]["finish_reason"] == "length"
        streamed = Streamed(url, fixed(37))
        assert (streamed.pieces, streamed.finish, streamed.done) == (37, "length", True)
        assert streamed.usage == answer["usage"] and streamed.text == answer["choices"][0]["message"]["content"]

    def test_is_at_least_what_min_tokens_says(self, url: str) -> None:
        assert post(url, chat("Tell", min_tokens=50, max_tokens=50)).json()["usage"]["completion_tokens"] == 50
        assert post(url, chat("Tell", min_tokens=50, max_tokens=90)).json()["usage"]["completion_tokens"] == 50

    def test_comes_naturally_where_nothing_fixes_it(self, url: str) -> None:
        answer = post(url, chat("Tell me something", max_tokens=500)).json()
        assert answer["choices"][0]["finish_reason"] == "stop" and 0 < answer["usage"]["completion_tokens"] < 500
        short = post(url, chat("Tell me something", max_tokens=5))
        assert first(short)["finish_reason"] == "length" and short.json()["usage"]["completion_tokens"] == 5

    def test_of_a_prompt_is_four_bytes_a_token_without_a_tokenizer(self, url: str) -> None:
        assert post(url, chat("abcdefghi")).json()["usage"]["prompt_tokens"] == 3
        assert post(url, {"model": MODEL, "prompt": [5, 6, 7, 8, 9]}, chat=False).json()["usage"]["prompt_tokens"] == 5

    def test_of_more_than_the_context_is_refused(self, url: str) -> None:
        answer = post(url, fixed(40_000))
        assert answer.status_code == 400 and "maximum context length is 32768 tokens" in answer.json()["message"]

    def test_ends_at_a_stop_word(self, url: str) -> None:
        assert first(post(url, chat("Compute 18 + 73.", stop=["91"])))["message"]["content"] == "#### "


class Library:
    """As the library `tokenizers` answers, with a vocabulary of six: offsets are letters, and a letter may be two tokens."""

    VOCABULARY = ("#", " the", " work", "x", " ab", "\ufffd")

    def get_vocab_size(self) -> int:
        return len(self.VOCABULARY)

    def decode(self, ids: list[int]) -> str:
        return "".join(self.VOCABULARY[each] for each in ids)

    def encode(self, text: str, add_special_tokens: bool) -> Any:
        found = [(at.start(), at.end()) for at in re.finditer(r" ?[a-z]+|.", text)]
        doubled = [span for span in found for _ in range(1 + (text[slice(*span)] == "\u597d"))]
        ids = [self.VOCABULARY.index(word) if (word := text[slice(*span)]) in self.VOCABULARY[:3] else 5 for span in doubled]
        return SimpleNamespace(ids=ids, offsets=doubled)


class TestARealTokenizer:
    def test_counts_prompts_and_makes_answers_that_count_alike(self) -> None:
        made = tokens.Real(Library())
        assert made.count("the work #") == 4 and made.text([1, 2]) == " the work"
        assert list(made.words) == [" the", " work"]  # " ab" would be read as another token

    @pytest.mark.parametrize("text", ["#### 91", '{"a": 5}', "good \u597d one", ""])
    def test_gives_pieces_that_are_the_text_again(self, text: str) -> None:
        assert "".join(tokens.Real(Library()).pieces(text)) == text

    def test_is_none_where_it_is_not_wanted_or_not_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert isinstance(tokens.load("plain"), tokens.Plain)
        monkeypatch.setitem(sys.modules, "tokenizers", None)
        assert isinstance(tokens.load(""), tokens.Plain)


class TestACompletion:
    def test_answers_each_prompt_of_several(self, url: str) -> None:
        answer = post(url, {"model": MODEL, "prompt": ["Compute 1 + 2.", "Compute 3 + 4."], "max_tokens": 9}, chat=False).json()
        assert [choice["text"] for choice in answer["choices"]] == ["#### 3", "#### 7"]

    def test_streams_too(self, url: str) -> None:
        streamed = Streamed(url, {"model": MODEL, "prompt": "x", "max_tokens": 4, "ignore_eos": True}, chat=False)
        assert (streamed.pieces, streamed.finish, streamed.done) == (4, "length", True)


class TestBadRequests:
    @pytest.mark.parametrize("body", [[], {"model": MODEL}, chat("x", max_tokens="many"), {"model": MODEL, "messages": [1]}])
    def test_are_400_and_no_fault_of_the_server(self, url: str, body: object) -> None:
        assert post(url, body).status_code == 400

    def test_for_another_model_are_404(self, url: str) -> None:
        assert post(url, {**chat("x"), "model": "other"}).status_code == 404


class TestArithmetic:
    @pytest.mark.parametrize(("question", "result"), [
        ("Compute 18 + 73.", 91), ("Question: Compute 98 + 9.\nAnswer:", 107), ("7 - 9", -2), ("12 * 12 =", 144), ("84 / 7", 12),
        ("2 + 2 = 4. Now compute 5 + 6.", 11), ("nothing to do in 2026", None), ("7 / 2", None)])
    def test_is_done_as_asked(self, question: str, result: int | None) -> None:
        assert arithmetic(question) == result

    def test_is_answered_as_gsm8k_wants_it(self, url: str) -> None:
        answer = first(post(url, chat([{"type": "text", "text": "Compute 18 + 73."}])))
        assert answer["message"]["content"] == "#### 91" and answer["finish_reason"] == "stop"

    def test_is_wrong_for_the_first_questions_that_are_planted_and_always_for_those(self) -> None:
        with beside(*FAST, "--wrong", "2") as server:
            rounds = [[first(post(server.url, chat(f"Compute {n} + 1.")))["message"]["content"] for n in range(5)] for _ in "12"]
        assert rounds[0] == ["#### 2", "#### 3", "#### 3", "#### 4", "#### 5"] and rounds[0] == rounds[1]

    def test_is_wrong_for_about_a_share_whoever_asks_first(self) -> None:
        def asked(numbers: range) -> dict[int, bool]:
            with beside(*FAST, "--wrong-share", "0.25") as server:
                return {n: first(post(server.url, chat(f"Compute {n} + 1.")))["message"]["content"] == f"#### {n + 1}" for n in numbers}

        forth, back = asked(range(30)), asked(range(29, -1, -1))
        assert forth == back and 2 <= list(forth.values()).count(False) <= 14


class TestACallOfATool:
    def test_has_arguments_that_fit_its_schema_and_the_question(self, url: str) -> None:
        answer = first(post(url, chat(WEATHER, tools=[TOOL])))
        call = answer["message"]["tool_calls"][0]
        assert answer["finish_reason"] == "tool_calls" and answer["message"]["content"] is None
        assert call["type"] == "function" and call["id"] and call["function"]["name"] == "get_weather"
        assert json.loads(call["function"]["arguments"]) == {"city": "Paris", "days": 3, "unit": "C"}

    def test_is_streamed_in_pieces_that_are_the_same_call(self, url: str) -> None:
        plain = first(post(url, chat(WEATHER, tools=[TOOL])))["message"]["tool_calls"][0]["function"]
        streamed = Streamed(url, chat(WEATHER, tools=[TOOL]))
        assert {"name": streamed.name, "arguments": streamed.arguments} == plain
        assert (streamed.finish, streamed.done, streamed.role) == ("tool_calls", True, "assistant")

    def test_is_not_made_where_none_is_wanted_or_it_was_answered_already(self, url: str) -> None:
        assert first(post(url, chat(WEATHER, tools=[TOOL], tool_choice="none")))["finish_reason"] == "stop"
        body = chat(WEATHER, tools=[TOOL])
        body["messages"].append({"role": "tool", "content": "sunny"})
        assert first(post(url, body))["message"]["content"]

    def test_is_of_the_function_that_is_named(self, url: str) -> None:
        other = {"type": "function", "function": {"name": "add", "parameters": {"properties": {"a": {"type": "integer"}}}}}
        body = chat(WEATHER, tools=[TOOL, other], tool_choice={"type": "function", "function": {"name": "add"}})
        assert first(post(url, body))["message"]["tool_calls"][0]["function"] == {"name": "add", "arguments": '{"a": 3}'}


SCHEMA = {"type": "object", "required": ["sum", "words"], "properties": {
    "sum": {"type": "integer"}, "words": {"type": "array", "minItems": 2, "items": {"$ref": "#/$defs/word"}}, "ok": {"type": "boolean"},
    "none": {"type": "null"}, "share": {"type": "number", "maximum": 0.5}}, "$defs": {"word": {"type": "string", "maxLength": 3}}}


class TestJson:
    @pytest.mark.parametrize("form", [
        {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}},
        {"structured_outputs": {"json": SCHEMA}}, {"guided_json": json.dumps(SCHEMA)}])
    def test_fits_a_schema_by_any_engines_key(self, url: str, form: dict[str, object]) -> None:
        body = chat("Compute 18 + 73.", **form)
        told = json.loads(first(post(url, body))["message"]["content"])
        assert told == {"sum": 91, "words": ["pla", "pla"], "ok": True, "none": None, "share": 0.5}
        assert json.loads(Streamed(url, body).text) == told

    def test_is_an_object_where_only_that_is_asked(self, url: str) -> None:
        assert isinstance(json.loads(first(post(url, chat("x", response_format={"type": "json_object"})))["message"]["content"]), dict)

    def test_of_a_schema_that_leads_to_itself_ends(self) -> None:
        assert Filled("x").value({"$ref": "#"}) is None
        assert Filled("x").value({"type": "object", "properties": {"a": {"$ref": "#"}}})
