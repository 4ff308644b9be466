"""What `compile` does with an execution plan, wherever it comes from: print it, write it to a file, or store it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from execplan.cli.answer import Answer, typed
from execplan.cli.printing import one_per_line
from execplan.cli.steps import left_json, left_lines, steps_json, steps_table
from execplan.errors import NO, USAGE, About, ExecplanError
from execplan.execution.documents.document import to_bytes
from execplan.execution.model import SCHEMA
from execplan.execution.written.advice import advice
from execplan.execution.written.annotated import find_annotated
from execplan.plan import reader
from execplan.repo import shelf
from execplan.repo.execution import store
from execplan.text import disk, files
from execplan.text.hidden import visible
from execplan.text.lines import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.execution.draft import SkippedLine
    from execplan.execution.model import ExecutionPlan
    from execplan.repo.amend import Options
    from execplan.repo.execution.current import Current
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

_WARNED = ("EP608", "EP610", "EP611")
"""Paths outside, tasks that are not there, lines that need a shell; the risk of a step stands beside it."""
_LARGEST = 64 * 1024 * 1024
_ELSEWHERE = "comes from elsewhere, and is used as it is"
_HEAD = 200
"""Bytes in which a document says which schema it has."""


class Made(NamedTuple):
    """An execution plan to be kept, and what came of making it."""

    document: ExecutionPlan
    data: bytes
    left: tuple[SkippedLine, ...] = ()
    warnings: tuple[str, ...] = ()


def warned(home: Home, ref: Ref) -> tuple[str, ...]:
    """What stops no compile and will stop an evaluation, or a tick; raises ExecplanError."""
    shown = home.shown(ref.path)
    with About(shown):
        plan = reader.read(shelf.open_bytes(home, ref.path))
    found = advice(plan, find_annotated(plan))
    return tuple([f"{shown}:{each.line + 1}: {each.kind} {each.message}" for each in found if each.kind in _WARNED])


def made_of(document: ExecutionPlan) -> Made:
    """One that comes from no plan."""
    return Made(document, to_bytes(document))


def printed(made: Made, *, as_json: bool) -> Answer:
    """Its bytes and nothing else; as JSON, the document among the data."""
    data = {**_data(made), "document": made.document.model_dump(mode="json", by_alias=True)} if as_json else {}
    return Answer(data, made.data.decode(), warnings=made.warnings, raw=True)


def written(made: Made, path: str, options: Options) -> Answer:
    """Written to a file of the user's choice, which may hold an older one; raises ExecplanError."""
    if options.commit:
        raise ExecplanError("usage", "--commit is for what is stored, not for --out", exit=USAGE)
    old = _held(path)
    if old != made.data and not options.dry_run:
        if old is None:
            if not files.create(os.path.abspath(path), made.data):
                raise disk.changed_underneath(path)
        else:
            files.replace(path, old, made.data)
    changed = old != made.data
    data = {**_data(made), "path": path, "changed": changed, "commit": None}
    text = _text(made, _said(path, changed=changed, dry_run=options.dry_run))
    return Answer(data, text, warnings=made.warnings, wanted=options.dry_run)


def _held(path: str) -> bytes | None:
    """What a file holds that is to be written over: an execution plan, or it is kept; None where there is none."""
    if not os.path.lexists(path):
        return None
    old, size = disk.read(path, _LARGEST)
    if size > _LARGEST or (old.strip() and SCHEMA.encode() not in old[:_HEAD]):
        raise ExecplanError(
            "not-a-document",
            f"{path} is there, and is no execution plan",
            exit=NO,
            hint="name another file, or remove this one",
        )
    return old


def stored(
    home: Home, ref: Ref, make: Callable[[], Made], options: Options, summary: str, before: Sequence[str] = ()
) -> Answer:
    """Stored among the artifacts of a plan, printed below the lines `before`; raises ExecplanError."""
    last: list[Made] = []

    def data() -> bytes:
        last[:] = [make()]
        return last[0].data

    kept = store.save(home, ref, data, options, verb="compile", summary=summary)
    made = last[0]
    lines = [*before, *_said(kept.path, changed=kept.changed, dry_run=options.dry_run)]
    if kept.commit:
        lines.append(f"committed {kept.commit[:12]}")
    data_ = {"id": ref.id, **_data(made), "path": kept.path, "changed": kept.changed, "commit": kept.commit}
    if options.dry_run:
        data_["diff"] = kept.diff
    follow = () if options.dry_run else (f"execplan evaluate {typed(ref.id, home.shown(ref.path))}",)
    warnings = (*made.warnings, *kept.warnings)
    diff = kept.diff if options.dry_run else ""
    return Answer(data_, _text(made, lines, diff), warnings=warnings, next=follow, wanted=options.dry_run)


def stored_new(
    parts: Sequence[tuple[Home, Ref]], title: str, make: Callable[[str], ExecutionPlan], options: Options
) -> Answer:
    """Stored for a new plan, which says which plans it joins; raises ExecplanError."""
    from execplan.repo import pick, scaffold

    names = [ref.id for _, ref in parts]
    home = parts[0][0]
    new = scaffold.new_plan(home, title, f"Run these plans in this order: {', '.join(names)}.", (), options)
    if options.dry_run:
        made = made_of(make(new.id))
        lines = [f"would make {path}" for path in new.paths]
        data = {"id": new.id, **_data(made), "path": f"{new.paths[1]}{store.NAME}", "changed": True, "commit": None}
        return Answer({**data, "diff": new.diff}, _text(made, lines, new.diff), warnings=new.warnings)
    home, ref = pick.open_plan(home.base, new.id)
    wrote = (f"wrote {new.path}",)
    answer = stored(home, ref, lambda: made_of(make(ref.id)), options, "compose execution plans", wrote)
    return answer._replace(warnings=(*new.warnings, *answer.warnings))


def kept(home: Home, ref: Ref, found: Current) -> Answer:
    """One that comes from elsewhere, which is used as it is."""
    made = Made(found.document, found.data)
    data = {"id": ref.id, **_data(made), "path": found.path, "changed": False, "commit": None}
    text = _text(made, [f"{found.path} {_ELSEWHERE}"])
    return Answer(data, text, next=(f"execplan evaluate {typed(ref.id, home.shown(ref.path))}",), wanted=False)


def checked(home: Home, ref: Ref, found: Current) -> Answer:
    """Whether what is stored is what the plan compiles to now."""
    there = os.path.lexists(store.path_of(home, ref))
    reasons = [] if found.stored else [found.stale or "nothing is stored yet"]
    data = {
        "id": ref.id,
        "path": found.path,
        "changed": False,
        "digest": digest(found.data),
        "stored": there,
        "current": found.stored,
        "reasons": reasons,
        "differences": list(found.differences),
    }
    if found.stored:
        own = found.document.source is not None and found.document.revision == 1
        what = "is what the plan compiles to" if own else _ELSEWHERE
        return Answer(data, visible(f"{found.path} {what}"), wanted=False)
    lines = [f"{found.path}: {reasons[0]}"] if not found.differences else [f"{found.path} is stale:"]
    lines += [f"  {each}" for each in found.differences]
    name = typed(ref.id, home.shown(ref.path))
    return Answer(
        data, one_per_line(lines), exit=NO, next=(f"execplan {'restore' if ref.archived else 'compile'} {name}",)
    )


def _said(path: str, *, changed: bool, dry_run: bool) -> list[str]:
    if not changed:
        return [f"nothing to write: {path} says so already"]
    return [f"would write {path}" if dry_run else f"wrote {path}"]


def _data(made: Made) -> dict[str, Any]:
    steps = steps_json(made.document)
    return {
        "digest": digest(made.data),
        "steps": steps,
        "left": left_json(made.left),
        "inferred": sum([step["inferred"] for step in steps]),
    }


def _text(made: Made, lines: list[str], diff: str = "") -> str:
    """The steps, what was not taken, and what became of them."""
    left = left_lines(left_json(made.left))
    return "\n".join(
        [steps_table(steps_json(made.document)), "", *left, *([""] if left else []), one_per_line(lines, diff)]
    )
