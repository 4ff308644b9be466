"""`execplan stats`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.plan_name import plan_flag
from execplan.cli.verb import verb
from execplan.errors import NO, USAGE, ExecplanError
from execplan.repo import homes, pick, shelf, state
from execplan.text import disk, files

if TYPE_CHECKING:
    from execplan.engine.stats import Figures
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

TEXT = "text"
PROMETHEUS = "prometheus"
_FIRST = b"# HELP plan_"
"""How every file of ours begins."""
_LIMIT = 1 << 20


@verb(
    reads="the ledgers of the plans that are named; else of all, archived ones too, with those of `homes` in the settings.",
    writes="nothing; with --textfile that file.",
    examples=(
        "execplan stats",
        "execplan stats parser --json",
        "execplan stats --format prometheus",
        "execplan stats --textfile execplan.prom",
    ),
)
@click.argument("plans", nargs=-1, metavar="[PLAN…]")
@plan_flag
@click.option(
    "--format", "form", type=click.Choice([TEXT, PROMETHEUS]), default=TEXT, help="prometheus: its text format."
)
@click.option(
    "--textfile", metavar="FILE", help="Write Prometheus's text format to FILE, for node_exporter to collect."
)
def stats(call: Call, plans: tuple[str, ...], *, form: str, textfile: str | None) -> Answer:
    """Count runs, how they ended and how long they took, steps, rollbacks, replans and approvals, from the ledgers."""
    if call.as_json and form != TEXT:
        why = "--json prints one JSON document, and --format prometheus another form"
        raise ExecplanError("usage", why, exit=USAGE, hint="leave one of them out")
    from execplan.engine.stats import figures

    home, found = _plans(plans)
    ledgers, warnings = _ledgers(found)
    told = figures(ledgers)
    data = {"plans": len([each for each in ledgers if each]), **_json(told)}
    if textfile is not None:
        changed = _write(home, textfile, told)
        text = f"wrote {textfile}" if changed else f"{textfile} says so already"
        return Answer(
            {**data, "path": home.shown(os.path.abspath(textfile)), "changed": changed},
            text,
            warnings=warnings,
            wanted=False,
        )
    if form == PROMETHEUS:
        from execplan.cli.metrics import render

        return Answer(data, render(told), warnings=warnings, raw=True)
    return Answer(data, _text(told) if data["plans"] else "nothing is recorded yet", warnings=warnings)


def _plans(named: tuple[str, ...]) -> tuple[Home, list[tuple[Home, Ref]]]:
    """The home from which they are asked for, and the plans."""
    here = os.getcwd()
    names: tuple[str | None, ...] = named or ((None,) if pick.from_environment() is not None else ())
    if names:
        found = list({ref.path: (home, ref) for home, ref in [pick.open_plan(here, name) for name in names]}.values())
        return homes.existing(found[0][0]), found
    home = homes.require(here)
    return home, [(each, ref) for each in homes.together(home) for ref in shelf.every(each)]


def _ledgers(plans: list[tuple[Home, Ref]]) -> tuple[list[Any], tuple[str, ...]]:
    """The records of each plan, and what is wrong with them."""
    from execplan.engine.ledger import chain, names

    found, warnings = [], []
    for home, ref in plans:
        data = names.read(home, ref)
        walked = chain.walk(data[: data.rfind(b"\n") + 1])
        found.append(walked.records)
        if walked.flaw is not None:
            warnings.append(f"the ledger of {ref.id} is broken, so that figures may be wrong: {walked.flaw}")
    return found, tuple(warnings)


def _write(home: Home, file: str, told: Figures) -> bool:
    """Let a file hold the figures, in one step; whether it held others. Raises ExecplanError."""
    from execplan.cli.metrics import render

    path, new = os.path.abspath(file), render(told).encode()
    with state.lock(home, os.path.realpath(path), "stats"):
        if not os.path.lexists(path):
            if not files.create(path, new):
                raise disk.ChangedMeanwhileError(path)
            os.chmod(path, 0o644)  # whatever the umask says: another user's collector reads it
            return True
        old = disk.read(path, _LIMIT)[0]
        if old and not old.startswith(_FIRST):
            what = f"{file} holds something else than metrics, so it is not overwritten"
            raise ExecplanError("not-metrics", what, exit=NO, hint="name another file, or remove it")
        if old == new:
            return False
        files.replace(path, old, new)
        return True


def _json(told: Figures) -> dict[str, Any]:
    return {
        "runs": told.runs,
        "executions": told.executions,
        "duration_s": {
            "count": len(told.seconds),
            "sum": round(sum(told.seconds), 3),
            "max": max(told.seconds, default=0),
        },
        "steps": told.steps,
        "agent_runs": told.agent_runs,
        "agent_calls": told.agent_calls,
        "rollbacks": told.rollbacks,
        "replans": told.replans,
        "approvals": told.approvals,
        "approval_rate": told.approval_rate,
        "execution_success_rate": told.success_rate,
        "rollback_rate": told.rollback_rate,
    }


def _text(told: Figures) -> str:
    from execplan.cli.running.phrases import counted
    from execplan.cli.table import table

    count = len(told.seconds)
    took = f"{sum(told.seconds) / count:.1f} s on average, {max(told.seconds):.1f} s at most" if count else "-"
    rates = (("approval", told.approval_rate), ("success", told.success_rate), ("rollback", told.rollback_rate))
    rows = [
        ("runs", _counts(told.runs)),
        ("took", took),
        ("steps", _counts(told.steps)),
        ("by agents", f"{counted(told.agent_runs, 'run')}, {counted(told.agent_calls, 'call')}"),
        ("rollbacks", _counts(told.rollbacks)),
        ("replans", str(told.replans)),
        ("approvals", _counts(told.approvals)),
        ("rates", ", ".join([f"{name} {value:.0%}" for name, value in rates if value is not None]) or "-"),
    ]
    return table(("what", "how many"), rows)


def _counts(counts: dict[str, int]) -> str:
    """`3: 2 completed, 1 failed`."""
    parts = [f"{count} {name.replace('_', ' ')}" for name, count in sorted(counts.items()) if count]
    return f"{sum(counts.values())}: {', '.join(parts)}" if parts else "0"


stats.settles = False  # a move that was cut short is finished by a verb that may write
command = stats
