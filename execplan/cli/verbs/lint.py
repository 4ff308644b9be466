"""`execplan lint`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from execplan.cli.answer import Answer, Call, relative
from execplan.cli.lint import Linted, lint_ref, report, status, summary
from execplan.cli.verb import verb
from execplan.errors import INPUT, ExecplanError
from execplan.repo import home as homes
from execplan.repo import shelf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


@verb(
    reads="the plans or files that are named, every file below a folder; with none, every plan, archived ones too.",
    writes="nothing.",
    examples=("execplan lint", "execplan lint parser", "execplan lint .agent/execplans/*.md", "execplan lint --json"),
)
@click.argument("plans", nargs=-1, metavar="[PLAN|FILE]...")
@click.option("--hook", is_flag=True, help="A draft may still hold guidance and no task.")
def lint(call: Call, plans: tuple[str, ...], hook: bool) -> Answer:
    """Check plans against the rules; `file:line:col CODE message` for each finding, exit 1 when one is an error."""
    linted: list[Linted] = []
    with _progress(call) as advance:
        for home, ref, named in _refs(plans):
            call.note(f"lint {named}")
            linted.append(lint_ref(home, ref, named, hook=hook))
            advance()
    findings = [finding.to_json(each.path) for each in linted for finding in each.findings]
    data = {"findings": findings, "plans": len(linted)}
    lines = report(linted)
    if not linted:
        lines = ["no plans to check"]
    elif call.quiet:
        lines.remove(summary(linted))
    codes = [str(finding["code"]) for finding in findings if finding["level"] == "error"] or [
        str(finding["code"]) for finding in findings
    ]
    follow = (f"execplan explain {codes[0]}",) if codes else ()
    return Answer(data, "\n".join(lines), status(linted), next=follow)


def _refs(plans: tuple[str, ...]) -> Iterator[tuple[Home, Ref, str]]:
    """Each plan that is named, with its home and how to show it."""
    if not plans:
        home = homes.require(os.getcwd())
        for ref in shelf.every(home):
            yield home, ref, relative(ref.path)
    for name in plans:
        if os.path.isdir(name):
            for folder, _, files in sorted(os.walk(name)):
                home = homes.find(folder)
                for file in sorted(files):
                    if file.endswith(".md") and not file.startswith("."):
                        path = os.path.join(folder, file)
                        yield home, shelf.by_file(home, path), path
        elif os.path.lexists(name):
            home = homes.find(os.path.dirname(os.path.abspath(name)))
            yield home, shelf.by_file(home, name), name
        elif "/" in name or name.endswith(".md"):
            home = homes.find(os.getcwd())
            if not home.exists:
                raise ExecplanError("no-such-file", f"there is no file {name}", exit=INPUT, hint="check the path")
            ref = shelf.named(home, name)
            yield home, ref, relative(ref.path)
        else:
            home = homes.require(os.getcwd())
            ref = shelf.named(home, name)
            yield home, ref, relative(ref.path)


class _progress:
    """A progress line on a terminal, for work that takes more than a blink; nothing elsewhere."""

    def __init__(self, call: Call) -> None:
        import sys

        self.shown = sys.stderr.isatty() and not call.quiet and not call.as_json
        self.count = 0

    def __enter__(self) -> _progress:
        return self

    def __call__(self) -> None:
        self.count += 1
        if self.shown and self.count % 200 == 0:
            click.echo(f"\r{self.count} plans", nl=False, err=True)

    def __exit__(self, *_: object) -> None:
        if self.shown and self.count >= 200:
            click.echo("\r\x1b[K", nl=False, err=True)


command = lint
