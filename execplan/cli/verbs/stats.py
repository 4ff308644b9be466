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
    from collections.abc import Sequence

    from execplan.engine.stats import RunStatistics
    from execplan.repo.gathering.usage import Used
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

TEXT = "text"
PROMETHEUS = "prometheus"
_FIRST = b"# HELP plan_"
"""How every file of ours begins."""
_LIMIT = 1 << 20


@verb(
    reads="the ledgers of the plans that are named; else of all, archived ones too, with those of `homes` in the settings; "
    "the logs of the sessions that they name, below ~/.claude and ~/.codex.",
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
    """Count plans, runs, steps, errors, rollbacks, replans and approvals, and how long they took, from the ledgers.

    Tokens and costs come from the logs of the agents' sessions that the ledgers name, as far as these say them.
    """
    if call.as_json and form != TEXT:
        why = "--json prints one JSON document, and --format prometheus another form"
        raise ExecplanError("usage", why, exit=USAGE, hint="leave one of them out")
    from execplan.engine.stats import compute_statistics
    from execplan.repo.gathering.usage import used

    home, found = _plans(plans)
    ledgers, warnings = _ledgers(found)
    told = compute_statistics(ledgers)
    session = used(told.sessions)
    data = {"plans": len([each for each in ledgers if each]), **_json(told, session)}
    if textfile is not None:
        changed = _write(home, textfile, told, session)
        text = f"wrote {textfile}" if changed else f"{textfile} says so already"
        return Answer(
            {**data, "path": home.shown(os.path.abspath(textfile)), "changed": changed},
            text,
            warnings=warnings,
            wanted=False,
        )
    if form == PROMETHEUS:
        from execplan.cli.metrics import render

        return Answer(data, render(told, session), warnings=warnings, raw=True)
    return Answer(data, _text(told, session) if data["plans"] else "nothing is recorded yet", warnings=warnings)


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
        walked = chain.parse_chain(data[: data.rfind(b"\n") + 1])
        found.append(walked.records)
        if walked.flaw is not None:
            warnings.append(f"the ledger of {ref.id} is broken, so that figures may be wrong: {walked.flaw}")
    return found, tuple(warnings)


def _write(home: Home, file: str, told: RunStatistics, session: Used) -> bool:
    """Let a file hold the figures, in one step; whether it held others. Raises ExecplanError."""
    from execplan.cli.metrics import render

    path, new = os.path.abspath(file), render(told, session).encode()
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


def _json(told: RunStatistics, session: Used) -> dict[str, Any]:
    return {
        "runs": told.runs,
        "executions": told.executions,
        "duration_s": _spread(told.seconds),
        "step_duration_s": _spread(told.step_seconds),
        "created": told.plans,
        "created_per_hour": told.plans_per_hour,
        "generation_s": _spread(told.generation),
        "steps_per_plan": _spread(told.plan_steps),
        "errors": told.errors,
        "sessions": {
            "count": session.sessions,
            "logs": session.logs,
            "tokens": session.usage.tokens,
            "cost_usd": session.usage.cost_usd,
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


def _spread(values: Sequence[float]) -> dict[str, float]:
    """How many there are, their sum, and the largest."""
    return {"count": len(values), "sum": round(sum(values), 6), "max": max(values, default=0)}


def _text(told: RunStatistics, session: Used) -> str:
    from execplan.cli.running.phrases import counted
    from execplan.cli.table import table

    hourly = f", {told.plans_per_hour:.1f} an hour" if told.plans_per_hour is not None else ""
    tokens = ", ".join([f"{count:,} {kind.replace('_', ' ')}" for kind, count in session.usage.tokens.items() if count])
    cost = f"{session.usage.cost_usd:.2f} US dollars" if session.usage.cost_usd is not None else "the logs do not say"
    rates = (("approval", told.approval_rate), ("success", told.success_rate), ("rollback", told.rollback_rate))
    rows = [
        ("runs", _counts(told.runs)),
        ("took", _average(told.seconds, ".1f", " s")),
        ("steps", _counts(told.steps)),
        ("step took", _average(told.step_seconds, ".1f", " s")),
        ("errors", _counts(told.errors)),
        ("by agents", f"{counted(told.agent_runs, 'run')}, {counted(told.agent_calls, 'call')}"),
        ("rollbacks", _counts(told.rollbacks)),
        ("replans", str(told.replans)),
        ("approvals", _counts(told.approvals)),
        ("rates", ", ".join([f"{name} {value:.0%}" for name, value in rates if value is not None]) or "-"),
    ]
    if told.plans:
        rows[:0] = [
            ("created", f"{counted(told.plans, 'execution plan')}{hourly}"),
            ("made in", _average(told.generation, ".3f", " s")),
            ("plan size", _average(told.plan_steps, ".1f", "")),
        ]
    if session.logs:
        rows += [("tokens", tokens or "-"), ("cost", cost)]
    return table(("what", "how many"), rows)


def _average(values: Sequence[float], form: str, unit: str) -> str:
    """`31.0 s on average, 61.5 s at most`."""
    if not values:
        return "-"
    return f"{sum(values) / len(values):{form}}{unit} on average, {max(values):{form}}{unit} at most"


def _counts(counts: dict[str, int]) -> str:
    """`3: 2 completed, 1 failed`."""
    parts = [f"{count} {name.replace('_', ' ')}" for name, count in sorted(counts.items()) if count]
    return f"{sum(counts.values())}: {', '.join(parts)}" if parts else "0"


stats.settles = False  # a move that was cut short is finished by a verb that may write
command = stats
