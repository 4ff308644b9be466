"""`execplan lint`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.lint import follow, lint_ref, lint_staged, report, status, summary
from execplan.cli.progress import tracked
from execplan.cli.verb import verb
from execplan.errors import INPUT, USAGE, ExecplanError
from execplan.repo import homes, pick, shelf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


class _Named(NamedTuple):
    """A plan to check."""

    home: Home
    ref: Ref
    shown: str


@verb(
    reads="the plans or files that are named, every file below a folder; with none, every plan, archived ones too; "
    "with --staged, what git's index holds of the plans that the next commit adds or changes, and nothing on disk.",
    writes="nothing.",
    examples=(
        "execplan lint",
        "execplan lint parser",
        "execplan lint .agent/execplans/*.md",
        "execplan lint --json",
        "execplan lint --staged --hook",
    ),
)
@click.argument("plans", nargs=-1, metavar="[PLAN|FILE]...")
@click.option("--hook", is_flag=True, help="A draft may still hold guidance and no task.")
@click.option("--staged", is_flag=True, help="The plans of the next commit, as they are staged.")
def lint(call: Call, plans: tuple[str, ...], hook: bool, staged: bool) -> Answer:
    """Check plans against the rules; `file:line:col CODE message` for each finding, exit 1 when one is an error."""
    if staged and plans:
        raise ExecplanError("usage", "--staged takes no PLAN", exit=USAGE, hint="leave one of the two out")
    if staged:
        linted = lint_staged(os.getcwd(), hook=hook)
    else:
        linted = [lint_ref(home, ref, named, hook=hook) for home, ref, named in tracked(list(_refs(plans)), call)]
    findings = [finding.to_json(each.path) for each in linted for finding in each.findings]
    data = {"findings": findings, "plans": len(linted)}
    lines = report(linted)
    if not call.quiet:
        lines.append(summary(linted) if linted else "no plans to check")
    return Answer(data, "\n".join(lines), status(linted), next=follow(linted))


def _refs(names: tuple[str, ...]) -> Iterator[_Named]:
    """Each plan that is named, with its home and how to show it."""
    if not names:
        home = homes.require(os.getcwd())
        for each in homes.together(home):
            yield from [_Named(each, ref, os.path.relpath(ref.path)) for ref in shelf.every(each)]
    for name in names:
        if os.path.isdir(name):
            for folder, _, files in sorted(os.walk(name)):
                yield from [_file(os.path.join(folder, each)) for each in sorted(files) if _is_markdown(each)]
        elif os.path.lexists(name):
            yield _file(name)
        elif pick.is_path(name) and not homes.find(os.getcwd()).exists:
            raise ExecplanError("no-such-file", f"there is no file {name}", exit=INPUT, hint="check the path")
        else:
            home, ref = pick.open_plan(os.getcwd(), name)
            yield _Named(home, ref, os.path.relpath(ref.path))


def _file(path: str) -> _Named:
    home = homes.find(os.path.dirname(os.path.abspath(path)))
    return _Named(home, shelf.by_file(home, path), path)


def _is_markdown(name: str) -> bool:
    return name.endswith(".md") and not name.startswith(".")


command = lint
