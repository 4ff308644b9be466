"""What a call makes of its files: read from the call and from what is there, before anything is written."""

from __future__ import annotations

from execplan.agents.guard.call import DELETE, WRITE
from execplan.agents.guard.paths import read, way
from execplan.execution.evaluation.unified import have_crlf_ends, split_lines
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from execplan.agents.guard.call import Edit


class Made(NamedTuple):
    """What becomes of one file."""

    path: str
    """From the root."""
    kind: str
    """WRITE, EDIT or DELETE; of several edits of one file that of the last."""
    now: bytes | None
    """What is there; None: nothing, or a link that is deleted."""
    after: bytes | None
    """What will be there."""
    problem: str = ""
    """Why nobody can say what will be there, or nothing."""


class Changes(NamedTuple):
    """What becomes of all files of a call."""

    made: tuple[Made, ...] = ()
    refused: str = ""
    """Why the call is denied whatever is planned, with the path that it is about; or nothing."""


def changes(edits: Iterable[Edit], folder: str, root: str) -> Changes:
    """What a call makes of its files, each edit on what those before it leave."""
    made: dict[str, Made] = {}
    for edit in edits:
        found = way(edit.path, folder, root, itself=edit.kind == DELETE)
        if found.refused:
            return Changes(refused=f"{edit.path!r}: {found.refused}")
        path = found.path
        made[path] = _next(edit, path, made.get(path) or _there(path, root, edit.kind))
    return Changes(tuple(made.values()))


def _there(path: str, root: str, kind: str) -> Made:
    try:
        now = read(path, root)
    except ValueError as why:
        return Made(path, kind, None, None, "" if kind == DELETE else str(why))
    return Made(path, kind, now, now)


def _next(edit: Edit, path: str, before: Made) -> Made:
    if edit.kind == DELETE:
        return before._replace(kind=DELETE, after=None)
    if edit.kind == WRITE and edit.content is not None:
        return before._replace(kind=WRITE, after=edit.content.encode("utf-8", "surrogatepass"))
    try:
        return before._replace(kind=edit.kind, after=_edited(before.after, edit))
    except ValueError as why:
        return before._replace(kind=edit.kind, problem=before.problem or f"{path}: {why}")


def _edited(data: bytes | None, edit: Edit) -> bytes:
    """A file with some of its text replaced; raises ValueError.

    In a file whose lines all end in CRLF a LF of the call stands for CRLF, as programs of agents have it.
    """
    if not edit.swaps and not edit.hunks:
        raise ValueError("the call does not say what it changes")
    lines = split_lines(data or b"")
    given = [part for old, new, _ in edit.swaps for part in (old, new)]
    given += [line for old, new in edit.hunks for line in (*old, *new)]
    returns = have_crlf_ends(lines) and not any(["\r" in each for each in given])
    text = "".join(lines).replace("\r\n", "\n") if returns else "".join(lines)
    for old, new, every in edit.swaps:
        text = _swapped(text, old, new, every=every, there=data is not None)
    text = _patched(text, edit, there=data is not None) if edit.hunks else text
    return (text.replace("\n", "\r\n") if returns else text).encode("utf-8", "surrogateescape")


def _swapped(text: str, old: str, new: str, *, every: bool, there: bool) -> str:
    count = text.count(old) if old else int(not text)
    if not count or not (there or not old):
        raise ValueError("the text to be replaced is not there")
    if count > 1 and not every:
        raise ValueError(f"the text to be replaced stands in {count} places")
    if takes_line_end(text, old, new):
        raise ValueError(
            "the text taken out stands at the end of a line, which goes too in some programs: name more of it"
        )
    return text.replace(old, new) if old else new


def takes_line_end(text: str, old: str, new: str) -> bool:
    """Whether some programs take a line end out with what is taken out, as Claude Code does."""
    return bool(old) and not new and not old.endswith("\n") and f"{old}\n" in text


def _patched(text: str, edit: Edit, *, there: bool) -> str:
    """A text with lines replaced, place after place; lines that stand at several places are refused."""
    if not there:
        raise ValueError("there is no such file")
    lines = text.removesuffix("\n").split("\n") if text else []
    at = 0
    for old, new in edit.hunks:
        last = len(lines) - len(old) + 1
        places = [place for place in range(at, last) if old and tuple(lines[place : place + len(old)]) == old]
        if len(places) != 1:
            raise ValueError(
                f"the lines to be replaced {f'stand at {len(places)} places' if places else 'are not there'}"
            )
        lines[places[0] : places[0] + len(old)] = new
        at = places[0] + len(new)
    if edit.ends and at != len(lines):
        raise ValueError("the lines to be replaced are not at the end")
    if lines and not lines[-1]:
        raise ValueError("the file would end in an empty line, which not every program leaves there")
    return "".join([f"{line}\n" for line in lines])
