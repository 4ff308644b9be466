"""`execplan init`."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.printing import one_per_line
from execplan.cli.prompts import agrees, can_ask
from execplan.cli.verb import new_options, verb
from execplan.errors import INPUT, NO, OK, USAGE, ExecplanError
from execplan.repo import homes, ignored
from execplan.repo.adoption import guide, setup
from execplan.repo.adoption.inspection import inspect
from execplan.repo.adoption.survey import counted, survey
from execplan.repo.amend import Options

if TYPE_CHECKING:
    from execplan.repo.adoption.guide import Upgraded
    from execplan.repo.adoption.survey import Prepared, Survey
    from execplan.repo.home import Home
    from execplan.repo.moving.move import Moved


@verb(
    reads="the settings and the guide, and every markdown file to see which are plans; not those in node_modules and the like.",
    writes="settings; without plans also their folders; the guide .agent/PLANS.md, where there is none. Moves nothing.",
    examples=(
        "execplan init --check || execplan init",
        "execplan init --commit",
        "execplan init packages/a",
        "execplan init --plans docs/plans --dry-run",
        "execplan init --move --dry-run",
        "execplan init --upgrade --dry-run",
    ),
)
@click.argument("place", required=False, metavar="[DIR]")
@click.option("--plans", "wanted", metavar="DIR", help="Keep plans in this folder, whatever is found.")
@click.option("--move", is_flag=True, help="Move the plans of .agent/execplans to the plans directory that is found.")
@click.option("--check", is_flag=True, help="Say what is found, write nothing; exit 1 if init would write something.")
@click.option("--upgrade", is_flag=True, help="Merge the newest guide into the one here; what you changed stays.")
@new_options
def init(
    call: Call, place: str | None, wanted: str | None, move: bool, check: bool, upgrade: bool, options: Options
) -> Answer:
    """Make a home for plans in this repository, in this folder where there is no git, or in DIR, which may be new.

    Plans that are there already are recognised, in packages below, too: settings are written that fit them, and nothing
    is moved, unless you agree: plans that `new` has put into .agent/execplans, while most are elsewhere, would not be listed
    any more. What is there stays as it is, so it can be run again at any time. Only --upgrade changes the guide, and
    tells each place that you and the newest guide both changed; there your words stay.
    """
    if check and (options.commit or upgrade):
        what = "--commit" if options.commit else "--upgrade"
        raise ExecplanError("usage", f"--check writes nothing, so {what} goes without it", exit=USAGE, hint="give one")
    if place is not None and os.path.lexists(place) and not os.path.isdir(place):
        raise ExecplanError("not-a-folder", f"{place} is no folder", exit=INPUT, hint="name the folder of a package")
    home = homes.find(os.getcwd()) if place is None else homes.at(place)
    found = survey(home, wanted)
    moved = _moved(call, place, home, found, options._replace(dry_run=options.dry_run or check), move=move)
    commit, warnings = setup.init(found, options._replace(dry_run=options.dry_run or check))
    changed = any([each.made for each in found.paths]) or bool(moved)
    wrote = not (check or options.dry_run)
    told = [_told(each) for each in found.homes]
    made = "made" if wrote else "would make"
    lines = [line for each in told for line in _lines(each, check)]
    moves = [pair for each in moved for pair in each.moves]
    lines += [f"{'moved' if wrote else 'would move'}  {old} to {new}" for old, new in moves]
    lines += [f"{made if each.made else 'kept'}  {each.path}  ({each.why})" for each in found.paths]
    lines += _strewn(found, check)
    newer = _guide(found.homes[0].home, options, upgrade=upgrade)
    lines += newer.lines
    changed = changed or (upgrade and newer.told.changed)
    commit = newer.told.commit or commit
    if commit:
        lines.append(f"committed {commit[:12]}")
    data = {
        "homes": told,
        "others": [each._asdict() for each in found.others],
        "elsewhere": list(found.elsewhere),
        "moves": [{"from": old, "to": new} for old, new in moves],
        "paths": [each._asdict() for each in found.paths],
        "changed": changed,
        "commit": commit,
        "guide": {
            "path": newer.told.path,
            "version": newer.told.before,
            "newest": newer.told.version,
            "conflicts": [each._asdict() for each in newer.told.conflicts],
        },
    }
    if options.dry_run and upgrade:
        data["diff"] = newer.told.diff
    status = NO if check and changed else OK
    follow: tuple[str, ...] = (
        ("execplan status",) if any([each["plans"] for each in told]) else ("execplan new 'What shall be done'",)
    )
    if changed and not wrote:
        given = ([place] if place else []) + (["--plans", wanted] if wanted else [])
        given += ["--move"] if found.unlisted else []
        follow = (shlex.join(["execplan", "init", *given]),)
    elif newer.told.changed and not upgrade:
        follow += ("execplan init --upgrade",)
    warnings = (
        found.warnings
        + tuple([line for each in moved for line in each.warnings])
        + warnings
        + newer.told.warnings
        + ignored.warnings(found.homes[0].home)
    )
    text = one_per_line(lines, newer.told.diff if upgrade else "")
    return Answer(data, text, status, warnings=warnings, next=follow, wanted=not wrote)


def _moved(call: Call, place: str | None, home: Home, found: Survey, options: Options, *, move: bool) -> list[Moved]:
    """Move the plans that would not be listed any more, if that is wanted; raises ExecplanError where nobody says so."""
    if not found.unlisted:
        return []
    from execplan.repo.moving.relocate import relocate

    new = found.homes[0].home
    old, target = home.shown(home.plans), new.shown(new.plans)
    what = f"{counted(len(found.unlisted))} in {old} would not be listed any more, because most plans are in {target}"
    init = shlex.join(["execplan", "init", *([place] if place else [])])
    asks = not (move or options.dry_run or call.as_json) and can_ask()
    if not (move or options.dry_run or (asks and agrees(f"{what}. Move them there?"))):
        raise ExecplanError(
            "plans-left-out",
            what,
            exit=NO,
            hint=f"move them there: {init} --move; or keep plans in {old}: {init} --plans {shlex.quote(os.path.relpath(home.plans))}",
            candidates=[home.shown(ref.path) for ref in found.unlisted],
            data={"reasons": [home.shown(ref.path) for ref in found.unlisted]},
        )
    return relocate(home, new, found.unlisted, options)


class _Guide(NamedTuple):
    """What is said of the guide."""

    told: Upgraded
    lines: list[str]


def _guide(home: Home, options: Options, *, upgrade: bool) -> _Guide:
    """Upgrade the guide, or say whether a newer one is there."""
    told = guide.upgrade(home, options) if upgrade else guide.look(home)
    if not told.changed:
        return _Guide(told, [])
    if not upgrade:
        return _Guide(told, [f"a newer guide is there for {told.path}: execplan init --upgrade"])
    made = "would upgrade" if options.dry_run else "upgraded"
    return _Guide(told, [f"{made}  {told.path}  (guide {told.before} to {told.version})"])


def _told(prepared: Prepared) -> dict[str, Any]:
    """A home: where, its settings, its plans in numbers, and which of them something is wrong with."""
    home = prepared.home
    found = inspect(home)
    settings = {
        name: list(value) if isinstance(value, tuple) else value for name, value in home.settings._asdict().items()
    }
    return {
        "base": os.path.relpath(home.base, home.root),
        "settings": settings,
        "new": prepared.new,
        "plans": found.plans,
        "archived": found.archived,
        "broken": [{"path": path, "why": why} for path, why in found.broken],
        "misfits": [{"path": path, "why": why} for path, why in found.misfits],
    }


def _lines(told: dict[str, Any], check: bool) -> list[str]:
    """A home as text: its plans, and in a check what is wrong with them."""
    settings, base = told["settings"], told["base"]
    count = told["plans"] + told["archived"]
    if not count and not check:
        return []
    place, archive = [os.path.normpath(os.path.join(base, settings[name])) for name in ("plans", "archive")]
    lines = [f"found {counted(count)}: {told['plans']} in {place}, {told['archived']} archived in {archive}"]
    if check:
        lines.append(
            f"  layout {settings['layout']}, names {settings['name']}, settings {'to write' if told['new'] else 'there'}"
        )
        lines += [f"  {each['path']}: {each['why']}" for each in told["misfits"]]
        lines += [f"  broken: {each['path']}: {each['why']}" for each in told["broken"]]
    return lines


def _strewn(survey: Survey, check: bool) -> list[str]:
    """The plans that no home holds."""
    if check:
        lines = [
            f"not taken: {counted(each.plans)} in {each.folder}; to take them: {each.take}" for each in survey.others
        ]
        return lines + [f"elsewhere: {path}" for path in survey.elsewhere]
    if not survey.elsewhere:
        return []
    return [f"{counted(len(survey.elsewhere))} elsewhere, as execplan init --check shows; to be named by path"]


command = init
