"""A stand-in for the program `lm_eval` 0.4.13: the arguments that the bench gives it and no others, the same files, the same last
words. It really asks the server, so that wrong answers, errors and a dead server show as they do with the real one.

It knows generative tasks with the two filters of gsm8k, by their YAML below --include_path; the questions are `<task>.jsonl` or
`questions.jsonl` beside it (question, answer). Only the waits between tries are shorter. A test holds what it writes against a
recorded real export, key by key.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import json
import re
import stat
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

MODEL_ARGS = {"model", "base_url", "num_concurrent", "max_retries", "timeout", "tokenized_requests", "max_gen_toks"}
STRICT, FLEXIBLE = re.compile(r"#### (-?[0-9.,]+)"), re.compile(r"(-?[$0-9.,]{2,})|(-?[0-9]+)")
FILTERS = ("strict-match", "flexible-extract")
WAIT_S = 0.01
VERSION = "0.4.13"


def installed(folder: Path) -> Path:
    """Puts the program `lm_eval` into this folder, which a test sets first on the PATH."""
    program = folder / "lm_eval"
    program.write_text(f"#!{sys.executable}\nimport runpy\nrunpy.run_path({__file__!r}, run_name='__main__')\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def arguments(argv: list[str]) -> argparse.Namespace:
    """The words that the bench gives; another ends it with code 2, as argparse does in the real one."""
    parser = argparse.ArgumentParser(prog="lm-eval", allow_abbrev=False)
    run = parser.add_subparsers(dest="command", required=True).add_parser("run", allow_abbrev=False)
    for name in ("--tasks", "--seed", "--include_path", "--output_path", "--samples"):
        run.add_argument(name)
    run.add_argument("--model", choices=("local-chat-completions", "dummy"))
    run.add_argument("--model_args", type=json.loads, default={})
    run.add_argument("--gen_kwargs", type=json.loads, default={})
    run.add_argument("--limit", type=float)
    run.add_argument("--apply_chat_template", action="store_true")
    run.add_argument("--log_samples", action="store_true")
    told = parser.parse_args(argv)
    unknown = set(told.model_args) ^ (MODEL_ARGS if told.model != "dummy" else set())
    if unknown or (told.model != "dummy") != told.apply_chat_template:
        parser.error(f"not as the bench calls it: {sorted(unknown)}")
    return told


class Task:
    """One task of the folder: its words, and its questions in order."""

    def __init__(self, name: str, file: Path) -> None:
        words = file.read_text(encoding="utf-8")
        own = file.with_name(f"{name}.jsonl")
        data = own if own.exists() else file.with_name("questions.jsonl")
        self.name, self.file = name, file
        self.docs = [json.loads(line) for line in data.read_text(encoding="utf-8").splitlines()]
        self.text = re.search(r'(?m)^doc_to_text: "(.*)"$', words)[1].replace('\\"', '"')
        self.output_type = re.search(r"(?m)^output_type: (\S+)", words)[1]
        own_tokens = re.search(r"max_gen_toks: (\d+)", words)
        self.kwargs = {"until": ["</s>", "<|im_end|>"], "do_sample": False, "temperature": 0.0,
                       **({"max_gen_toks": int(own_tokens[1])} if own_tokens else {})}
        self.unsafe = "unsafe_code: true" in words

    def prompt(self, doc: dict[str, str]) -> str:
        """The question as it is sent."""
        return re.sub(r"\{\{(\w+)\}\}", lambda found: doc[found[1]], self.text)


def found(name: str, folder: str | None) -> tuple[list[Task], bool]:
    """The tasks of this name, and whether it is a group's."""
    for file in sorted(Path(folder).rglob("*.yaml")) if folder else ():
        words = file.read_text(encoding="utf-8")
        if re.search(rf"(?m)^task: {re.escape(name)}$", words):
            return [Task(name, file)], False
        if re.search(rf"(?m)^group: {re.escape(name)}$", words):
            members = re.search(r"(?m)^task: \[(.*)\]$", words)[1].split(", ")
            return [each for member in members for each in found(member, folder)[0]], True
    raise Gone("ValueError", f"Tasks not found: {name}")


class Gone(Exception):
    """What ends the program: the name of an exception, and its words."""


class Server:
    """Asks one question, and again as often as it may; the log is told as lm-eval tells it."""

    def __init__(self, told: dict[str, Any], gen: dict[str, Any]) -> None:
        self._told, self._gen = told, gen

    def answer(self, task: Task, prompt: str) -> str:
        """The answer's text; "" where the server gives none. Raises Gone when every try failed."""
        for attempt in range(self._told["max_retries"]):
            if attempt:
                time.sleep(WAIT_S * 2**attempt)
            try:
                return self._once(task, prompt)
            except Gone as error:
                last = error
                name = error.args[0].rpartition(".")[2]
                log("ERROR", "models.api_models:557", f"Exception:{name}({error.args[1]!r}), (no outputs), retrying.")
        raise last

    def _once(self, task: Task, prompt: str) -> str:
        address = urlsplit(self._told["base_url"])
        kwargs = {**task.kwargs, **self._gen}
        body = {"messages": [{"role": "user", "content": prompt}], "model": self._told["model"], "temperature": 0.0, "seed": 1234,
                "max_tokens": kwargs.get("max_gen_toks", self._told["max_gen_toks"]), "stop": kwargs["until"]}
        line = http.client.HTTPConnection(address.hostname, address.port, timeout=self._told["timeout"])
        try:
            line.request("POST", address.path, json.dumps(body), {"Content-Type": "application/json", "Authorization": "Bearer "})
            response = line.getresponse()
            said = response.read().decode()
        except TimeoutError:
            raise Gone("TimeoutError", "") from None
        except ConnectionRefusedError:
            raise Gone("aiohttp.client_exceptions.ClientConnectorError", f"Cannot connect to host {address.netloc}") from None
        except (OSError, http.client.HTTPException):
            raise Gone("aiohttp.client_exceptions.ServerDisconnectedError", "Server disconnected") from None
        finally:
            line.close()
        if response.status >= 400:
            log("WARNING", "models.api_models:517", f"API request failed! Status code: {response.status}, Response text: {said}. Retrying...")
            raise Gone("aiohttp.client_exceptions.ClientResponseError",
                       f"{response.status}, message='{response.reason}', url='{self._told['base_url']}'")
        try:
            return json.loads(said)["choices"][0]["message"]["content"] or ""
        except (KeyError, IndexError, TypeError) as error:
            log("WARNING", "models.openai_completions:186", f"Could not parse generations: {error}")
            return ""


def log(level: str, where: str, words: str) -> None:
    """A line as lm-eval prints them, on stderr."""
    print(f"{datetime.now():%Y-%m-%d:%H:%M:%S} {level:<8} [{where}] {words}", file=sys.stderr, flush=True)


def hashed(text: str) -> str:
    """As lm-eval names texts."""
    return hashlib.sha256(text.encode()).hexdigest()


def records(task: Task, given: list[int], answers: list[str]) -> list[dict[str, Any]]:
    """The lines of a samples file: every answer under every filter. Questions are asked in the suite's order and named in the
    given one, as the real one does."""
    made = []
    for name in FILTERS:
        for place, asked, answer in zip(given, sorted(given), answers, strict=True):
            doc = task.docs[asked]
            cleaned = filtered(name, answer)
            prompt = json.dumps([{"role": "user", "content": task.prompt(doc)}], ensure_ascii=False)
            right = float(bare(cleaned) == bare(doc["answer"]))
            made.append({
                "doc_id": place, "doc": doc, "target": doc["answer"],
                "arguments": {"gen_args_0": {"arg_0": [prompt], "arg_1": task.kwargs}}, "resps": [[answer]],
                "filtered_resps": [cleaned], "filter": name, "metrics": ["exact_match"],
                "doc_hash": hashed(json.dumps(doc, indent=2, ensure_ascii=False)), "prompt_hash": hashed(prompt),
                "target_hash": hashed(doc["answer"]), "exact_match": right})
    return made


def filtered(name: str, answer: str) -> str:
    """What a filter finds in an answer."""
    if name == "strict-match":
        strict = STRICT.search(answer)
        return strict[1] if strict else "[invalid]"
    loose = [one or other for one, other in FLEXIBLE.findall(answer)]
    return loose[-1] if loose else "[invalid]"


def bare(text: str) -> str:
    """An answer without what the comparison passes over."""
    return re.sub(r"\.$", "", re.sub(r"(?s).*#### ", "", text.replace(",", "").replace("$", ""))).lower()


def scores(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """The means of one task."""
    told: dict[str, Any] = {}
    for name in FILTERS:
        values = [line["exact_match"] for line in lines if line["filter"] == name]
        mean = sum(values) / len(values)
        spread = (sum((value - mean) ** 2 for value in values) / max(1, len(values) - 1) / len(values)) ** 0.5
        told |= {f"exact_match,{name}": mean, f"exact_match_stderr,{name}": spread if len(values) > 1 else "N/A"}
    return told


def document(told: argparse.Namespace, tasks: list[Task], group: bool, lines: dict[str, list[dict[str, Any]]],
             seconds: float) -> dict[str, Any]:
    """The results file."""
    results: dict[str, Any] = {
        task.name: {"name": task.name, "alias": task.name, "sample_len": len(lines[task.name]) // len(FILTERS), **scores(lines[task.name])}
        for task in tasks}
    if group:
        every = [line for each in lines.values() for line in each]
        asked = len(every) // len(FILTERS)
        results[told.tasks] = {"alias": told.tasks, "name": told.tasks, "sample_len": asked, **scores(every),
                               "sample_count": {f"exact_match,{name}": asked for name in FILTERS}}
    seeds = [int(seed) for seed in told.seed.split(",")]
    chat = told.model != "dummy"
    return {
        "results": results,
        **({"groups": {told.tasks: results[told.tasks]}} if group else {}),
        "group_subtasks": {told.tasks: [task.name for task in tasks]} if group else {},
        "configs": {task.name: {"task": task.name, "output_type": task.output_type, "generation_kwargs": task.kwargs,
                                "metadata": {"version": 1.0, **told.model_args, "config_source": str(task.file)}} for task in tasks},
        "versions": {name: "1.0" if group and name == told.tasks else 1.0 for name in results}, "n-shot": {task.name: 0 for task in tasks},
        "higher_is_better": {name: {"exact_match": True} for name in results},
        "n-samples": {task.name: {"original": len(task.docs), "effective": results[task.name]["sample_len"]} for task in tasks},
        "config": {"model": told.model, "model_args": told.model_args, "batch_size": 1, "batch_sizes": [], "device": "cuda:0",
                   "use_cache": None, "limit": told.limit, "bootstrap_iters": 100000, "gen_kwargs": told.gen_kwargs,
                   "random_seed": seeds[0], "numpy_seed": seeds[1], "torch_seed": seeds[2], "fewshot_seed": seeds[3]},
        "git_hash": None, "date": time.time(), "pretty_env_info": "N/A (torch not installed)", "transformers_version": "5.24.0",
        "lm_eval_version": VERSION, "upper_git_hash": None,
        "task_hashes": {name: hashed("".join(line["doc_hash"] for line in each)) for name, each in lines.items()} if chat else {},
        "model_source": told.model, "model_name": told.model_args.get("model", "dummy"), "model_name_sanitized": folder_of(told),
        "system_instruction": None, "system_instruction_sha": None, "fewshot_as_multiturn": True if chat else None,
        "chat_template": "" if chat else None, "chat_template_sha": None, "total_evaluation_time_seconds": str(seconds)}


def folder_of(told: argparse.Namespace) -> str:
    """The model's name as a folder."""
    return re.sub(r"[\"<>:/|?*\[\]\\]+", "__", told.model_args.get("model", "dummy"))


def run(told: argparse.Namespace) -> None:
    """Asks, scores, writes."""
    begun = time.time()
    tasks, group = found(told.tasks, told.include_path)
    for task in tasks:
        if task.unsafe:
            raise Gone("ValueError", f"Attempted to run task: {task.name} which is marked as unsafe. Set confirm_run_unsafe_code=True")
    picked = json.loads(Path(told.samples).read_text()) if told.samples else {}
    lines = {}
    for task in tasks:
        given = picked.get(task.name) or list(range(len(task.docs)))[:int(told.limit) if told.limit else None]
        if told.model == "dummy":
            answers = ["lol"] * len(given)
        else:
            server = Server(told.model_args, told.gen_kwargs)
            with ThreadPoolExecutor(told.model_args["num_concurrent"]) as pool:
                answers = list(pool.map(partial(server.answer, task), [task.prompt(task.docs[place]) for place in sorted(given)]))
        lines[task.name] = records(task, given, answers)
    folder = Path(told.output_path) / folder_of(told)
    folder.mkdir(parents=True, exist_ok=True)
    date = datetime.now().isoformat().replace(":", "-")
    (folder / f"results_{date}.json").write_text(json.dumps(document(told, tasks, group, lines, time.time() - begun), indent=2))
    for name, each in lines.items() if told.log_samples else ():
        (folder / f"samples_{name}_{date}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in each))


if __name__ == "__main__":
    try:
        run(arguments(sys.argv[1:]))
    except Gone as end:
        print(f"Traceback (most recent call last):\n  ...\n{end.args[0]}{f': {end.args[1]}' if end.args[1] else ''}", file=sys.stderr)
        sys.exit(1)
