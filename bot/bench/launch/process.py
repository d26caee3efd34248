"""A server that is already a command of this machine: the operator's words, with the point's put in."""

from __future__ import annotations

from collections.abc import Mapping

from bot.bench import command
from bot.bench.host import Server
from bot.bench.launch import given, gpus
from bot.bench.launch.server import Followed, ended
from bot.bench.launch.start import Start
from bot.errors import Missing, Refusal
from bot.model.bench import Launched

STOP_S = 3.0
UNPROVEN = "which image answers is not known here: a command was started, and no container"


def begin(start: Start) -> Server:
    """The operator's command, started; see `launch.begin`. Its digest is nobody's to say: the server's own version decides."""
    words, notes = _words(start)
    if not start.host.programs.found(words[0]):
        raise Missing(f"there is no program {words[0]}", "install it, or correct `server` in the machine file (--server)")
    env = {**command.environment(start.order, contained=False), **_environment(start)}
    # What the command does with its GPUs is its own; that it sees as many as the point has, and no other, is told here.
    chosen = gpus.choose(start.order, start.host, given.operators(start), must=False)
    start.noted(f"$ {' '.join(words)}")
    running = start.host.programs.start(words, log=start.server_log, env={**chosen.rest(env), **chosen.variables})
    start.stack.callback(running.stop, STOP_S)
    return Followed(Launched(launcher="process", image=start.order.image, name=start.name, command=words, url=start.url,
                             gpus=chosen.numbers, notes=(UNPROVEN, *notes, *chosen.notes)), running, ended)


def _words(start: Start) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The command with everything put in, and what of the point has no place in it. `{args}` alone is the recipe's arguments; a
    word in braces that is none of ours stays as it is."""
    order, server, notes = start.order, start.machine.server, []
    if not server:
        raise Refusal("the launcher `process` has no command of a server",
                      "name it: --server COMMAND, or `server` in the machine file")
    command.checked(order)
    arguments = command.arguments(order)
    put = {"{port}": str(start.port), "{host}": "127.0.0.1", "{model}": order.model, "{image}": order.image,
           "{revision}": order.revision}
    if start.machine.port is None and not any("{port}" in word for word in server):
        raise Refusal("the server's command has no {port}, and the machine file no port", "write {port} where the command takes it")
    if "{args}" not in server and arguments:
        notes.append("the recipe's arguments were not handed on: the server's command has no {args}")
    words = tuple(made for word in server for made in (arguments if word == "{args}" else (_filled(word, put),)))
    return words, tuple(notes)


def _filled(word: str, put: Mapping[str, str]) -> str:
    """Each name once, from the left: what a value holds is no name any more."""
    at = min(((word.find(name), name) for name in put if name in word), default=None)
    if at is None:
        return word
    begin, name = at
    return word[:begin] + put[name] + _filled(word[begin + len(name):], put)


def _environment(start: Start) -> dict[str, str]:
    env = start.host.env
    passed, named = {name: env[name] for name in given.PROCESS if name in env}, given.of_machine(start)
    models = given.models(start)
    return {**passed, **({"HF_HOME": str(models)} if models else {}), **given.token(env), **named, **given.offline(start, named)}
