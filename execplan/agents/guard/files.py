"""Whether what a call makes of its files is what a step makes of them, or some of it and nothing else."""

from __future__ import annotations

import os
from os.path import normpath

from execplan.agents.guard.paths import read as read_file
from execplan.agents.guard.verdict import SAME, Verdict
from execplan.errors import ExecplanError
from execplan.execution.documents.touched import written_paths
from execplan.execution.evaluation.partly import is_partially_applied
from execplan.execution.evaluation.patch import FilePatch, Hunk
from execplan.execution.evaluation.unified import split_lines, replacement_lines
from execplan.execution.world import ABSENT, FILE, LINK
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from execplan.agents.guard.content import Made
    from execplan.agents.guard.planned import Around
    from execplan.execution.world import State

    Judge = Callable[[Mapping[str, Any], Made, Around], str]

CREATE = "create_file"


def compare(made: Sequence[Made], step: Mapping[str, Any], around: Around) -> Verdict:
    """Whether a call over these files, one at least, is of a step that writes files."""
    own = [normpath(path) for path in written_paths({**step, "outputs": None})]
    others = [each.path for each in made if each.path not in own]
    if others:
        names = {path.rpartition("/")[2].casefold() for path in own}
        near = 30 * any([path.rpartition("/")[2].casefold() in names for path in others])
        return Verdict(f"the call is about {others[0]}, not about {', '.join(own[:3])} alone", near)
    for each in made:
        try:
            why = each.problem or _JUDGES[step["type"]](step, each, around)
        except ValueError as error:
            why = str(error)
        except ExecplanError as error:
            why = error.message
        if why:
            return Verdict(why, 80)
    return SAME


def _created(step: Mapping[str, Any], made: Made, around: Around) -> str:
    content = (step.get("content") or "").encode("utf-8", "surrogateescape")
    if made.after is None:
        return f"the call deletes {made.path}, which the step creates"
    if made.after != content:
        return _other(made.path, made.after, content)
    if made.now is not None and made.now != content and not _is_expected(step, made, around):
        return f"{made.path} is there already, and not as it was approved"
    return ""


def _deleted(step: Mapping[str, Any], made: Made, around: Around) -> str:
    if made.after is not None:
        return f"the call writes {made.path}, which the step deletes"
    return "" if _is_expected(step, made, around) else f"{made.path} is not as it was approved"


def _modified(step: Mapping[str, Any], made: Made, around: Around) -> str:
    before = _before(step, made, made.path, around)
    if step.get("patch") is not None:
        from execplan.execution.evaluation.patch import parse_patch

        (change,) = parse_patch(step["patch"], step["target"])
        return _changed(made, before, change)
    first, last = step.get("lines") or (0, 0)
    lines = split_lines(before)
    if not 1 <= first <= last <= len(lines):
        return f"{made.path} has {len(lines)} lines"
    new = replacement_lines(lines, first, last, step.get("content") or "")
    given = tuple(split_lines(new.encode("utf-8", "surrogateescape")))
    return _changed(made, before, FilePatch(None, None, (Hunk("", first - 1, tuple(lines[first - 1 : last]), given),)))


def _refactored(step: Mapping[str, Any], made: Made, around: Around) -> str:
    """What a diff over several files makes of one of them; of a file that it moves, of either end."""
    from execplan.execution.evaluation.patch import apply_patch, parse_patch

    for change in parse_patch(step["patch"]):
        source, target = [None if name is None else normpath(name) for name in (change.source, change.target)]
        if source != target and made.path == source:
            return (
                _deleted(step, made, around)
                if made.after is None
                else f"the call writes {source}, which the step takes away"
            )
        if made.path != target:
            continue
        if source is None:
            return _created({**step, "content": apply_patch(b"", change).decode("utf-8", "surrogateescape")}, made, around)
        before = _before(step, made, source, around)
        if source != target and made.now is not None and not is_partially_applied(before, made.now, change.hunks):
            return f"{target} is there already"
        return _changed(made, before, change)
    return f"the call is about {made.path}, which the step leaves alone"


_JUDGES: Mapping[str, Judge] = {
    CREATE: _created,
    "delete_file": _deleted,
    "modify_file": _modified,
    "refactor_code": _refactored,
}
WRITES = frozenset(_JUDGES)
"""The types of steps that write files themselves."""


def _changed(made: Made, before: bytes, change: FilePatch) -> str:
    """Whether a file is as some hunks leave it, as far as one call after the other has come."""
    from execplan.execution.evaluation.patch import adapt_line_ends

    if made.after is None:
        return f"the call deletes {made.path}, which the step changes"
    hunks = adapt_line_ends(split_lines(before), change)
    if is_partially_applied(before, made.after, hunks):
        return ""
    lines, at = split_lines(before), 0
    whole: list[str] = []
    for hunk in hunks:
        whole += [*lines[at : hunk.start], *hunk.new]
        at = hunk.start + len(hunk.old)
    planned = "".join([*whole, *lines[at:]]).encode("utf-8", "surrogateescape")
    return f"{_other(made.path, made.after, planned)} (each place of the diff is changed as a whole, by one edit)"


def _other(path: str, given: bytes, wanted: bytes) -> str:
    """Where what a call writes differs from what is planned."""
    pairs = zip([*split_lines(given), ""], [*split_lines(wanted), ""], strict=False)
    line = next((number for number, (one, other) in enumerate(pairs, 1) if one != other), 0)
    if wanted == given + b"\n":
        return f"{path} would not be as planned: the newline at its end is missing"
    if given.rstrip(b"\n") == wanted.rstrip(b"\n"):
        return f"{path} would not be as planned: it ends with {_ends(given)} newlines, not with {_ends(wanted)}"
    if given.replace(b"\r\n", b"\n") == wanted.replace(b"\r\n", b"\n"):
        ending = "CRLF" if b"\r\n" in given else "LF"
        return f"{path} would not be as planned: line {line} ends with {ending}"
    if line:
        return f"{path} would not be as planned: line {line} is another one"
    return f"{path} would not be as planned"


def _ends(data: bytes) -> int:
    return len(data) - len(data.rstrip(b"\n"))


def _state(step: Mapping[str, Any], path: str, around: Around) -> State | None:
    """What is expected at a path; it may be kept under the words that the step has for it."""
    found = around.expected.get(path)
    names = [name for name in written_paths({**step, "outputs": None}) if normpath(name) == path]
    return found or next((around.expected[name] for name in names if name in around.expected), None)


def _is_expected(step: Mapping[str, Any], made: Made, around: Around) -> bool:
    """Whether what is at a path is what the run has left there, or what was approved."""
    state = _state(step, made.path, around)
    if state is None:
        return False
    if state.kind == LINK:
        try:
            return os.readlink(os.path.join(around.root, made.path)) == state.link
        except OSError:
            return False
    if made.now is None:
        return state.kind == ABSENT
    return state.kind == FILE and _is(made.now, state)


def _before(step: Mapping[str, Any], made: Made, path: str, around: Around) -> bytes:
    """The bytes of a file as a step finds it; raises ValueError."""
    state = _state(step, path, around)
    if state is None or state.kind != FILE:
        raise ValueError(f"nobody has approved what is in {path}")
    now = made.now if made.path == path else read_file(path, around.root)
    if now is not None and _is(now, state):
        return now
    kept = around.before(path)
    if kept is None or not _is(kept, state):
        raise ValueError(f"what {path} was before the step is not known any more")
    return kept


def _is(data: bytes, state: State) -> bool:
    return digest(data) == state.sha256
