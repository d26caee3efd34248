"""`bench`: what the command line and the machine's environment say, put behind ports, and the report as a person reads it."""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from pathlib import Path
from typing import cast

import typer
from msgspec.structs import replace

from bot.adapters.assets import PackagedAssets
from bot.adapters.clock import SystemClock
from bot.adapters.interrupts import Signals
from bot.adapters.programs import LocalPrograms
from bot.adapters.web import LocalWeb
from bot.bench import effective, kept, stages, told
from bot.bench.host import Host
from bot.bench.order import read_machine, read_order
from bot.bench.stages import Known
from bot.cli import proving
from bot.cli.output import as_json, note, table
from bot.cli.place import Place, content
from bot.errors import BadArguments, BadInput, Stopped
from bot.model.bench import LAUNCHERS, Launcher, Machine, Report
from bot.results import Metrics, load_metrics

MACHINE = "BUMPBOT_MACHINE"
HINT = "write it with `bumpbot matrix RECIPE --points ID --format json`"


def bench(here: Place, point: Path, *, out: Path, machine: Path | None, launcher: str | None, command: str | None,
          format_: str) -> None:
    """Measures one point; exit 1 where it was refused, is partial or a gate does not hold, 3 where a limit passed."""
    order = read_order(content(point, HINT), str(point))
    on = machine_of(machine, launcher, command)
    assets = PackagedAssets()
    known = Known(
        load_metrics(assets.text("knowledge/metrics.yaml"), file="knowledge/metrics.yaml"),
        effective.load(assets.text("knowledge/effective.yaml"), file="knowledge/effective.yaml"), proving.of(assets))
    with Signals() as signals:
        try:
            place = kept.opened(out, here.repo)
            host = Host(programs=LocalPrograms(), web=LocalWeb(), clock=SystemClock(), env=dict(os.environ), say=_told,
                        interrupts=signals)
            report = stages.measure(order, on, host, place, known)
        except Stopped as stop:  # before anything was started
            _told(f"stopped by {stop}")
            signals.last()
            raise typer.Exit(1) from None
        if signals.asked:
            signals.last()
    _show(report, known.metrics, format_)
    if report.reason:
        _told(f"bumpbot: {report.reason}{f': {report.hint}' if report.hint else ''}")
    raise typer.Exit(report.exit_code or 0)


def _told(line: str) -> None:
    """A line of progress. Nobody may read it any more (`2>&1 | head`, a terminal that hung up): no reason to end a measurement."""
    with suppress(OSError):
        note(line)


def machine_of(file: Path | None, launcher: str | None, command: str | None) -> Machine:
    """The machine as its file says it, and over that the command line. A server that is a command needs no launcher named."""
    named = file or (Path(said) if (said := os.environ.get(MACHINE, "")) else None)
    found = read_machine(content(named, "see `bumpbot bench --help`"), str(named)) if named else Machine()
    if launcher is not None:
        if launcher not in LAUNCHERS:
            raise BadArguments(f"no launcher is called {launcher!r}", f"one of {', '.join(LAUNCHERS)}")
        found = replace(found, launcher=cast(Launcher, launcher))
    if command is not None:
        found = replace(found, server=_words(command), launcher=found.launcher if launcher else "process")
    if found.launcher == "process" and not found.server:
        if launcher is None and named:
            raise BadInput("a process without its command", "say which: server: [program, --port, '{port}']", file=str(named),
                           key="server")
        raise BadArguments("launcher process, and no command is named", "give it with --server, or in the machine file")
    if command is not None and found.launcher != "process":
        raise BadArguments(f"--server is a command of launcher process, and {found.launcher} is asked for", "leave one of both out")
    return found


def _words(command: str) -> tuple[str, ...]:
    """A command in words, split as a shell would and run by none."""
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise BadArguments(f"--server cannot be split into words: {error}", "close the quotation") from None
    if not words or not words[0]:
        raise BadArguments("--server is empty", "give the server's command, with {port} where its port belongs")
    return words


def _show(report: Report, metrics: Metrics, format_: str) -> None:
    if format_ == "json":
        import msgspec

        as_json(msgspec.to_builtins(report))
        return
    line = told.line(report)
    typer.echo(f"**{line}**" if format_ == "markdown" else line)
    for part in told.tables(report, metrics):
        typer.echo()
        table(format_, part.heads, part.rows, right=part.right)
