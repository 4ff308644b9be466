"""Unified diffs: read strictly, applied exactly or refused with the hunk.

unidiff reads the hunks. It takes lines that it does not know for remarks, and a hunk that it does not recognise with them;
here every line of a diff must be one that says something.
"""

from __future__ import annotations

from execplan.errors import INPUT, NO, ExecplanError
from execplan.execution.documents.touched import touched
from execplan.execution.evaluation.unified import are_returned, cut
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from unidiff.patch import Hunk as Read
    from unidiff.patch import PatchedFile

_NOWHERE = "/dev/null"
_MODES = {None: None, "100644": 0o644, "100755": 0o755}
_REMARKS = tuple(
    "diff --git |index |old mode |new mode |new file mode |deleted file mode |rename from |rename to |similarity index |"
    "dissimilarity index ".split("|")
)
"""How lines begin that git puts between files."""
_RENAMES = "rename from "


class Hunk(NamedTuple):
    """Lines of a file and what takes their place, each with its line end."""

    header: str
    start: int
    """From 0."""
    old: tuple[str, ...]
    new: tuple[str, ...]


class Change(NamedTuple):
    """What a diff does to one file."""

    source: str | None
    """None: the file is new."""
    target: str | None
    """None: the file is deleted; another than the source: it is renamed."""
    hunks: tuple[Hunk, ...]
    mode: int | None = None
    """What the diff says of it: 0o644 or 0o755."""


def read(text: str, target: str | None = None) -> tuple[Change, ...]:
    """The files that a diff changes, in order; one without a header is about the target.

    Raises ExecplanError for what can't be read to the last line, and for what is not about text: a link, a binary file.
    """
    from unidiff.errors import UnidiffParseError
    from unidiff.patch import PatchSet

    text = text.lstrip("\n")
    text = text if text.endswith("\n") else text + "\n"
    if target is not None and _bare(text):
        text = f"--- a/{target}\n+++ b/{target}\n{text}"
    lines = text.split("\n")[:-1]
    try:
        files = PatchSet([line + "\n" for line in lines])
    except (UnidiffParseError, ValueError, AssertionError) as error:
        raise _bad(f"{' '.join(str(error).split())}; is a count in an `@@` line wrong?") from None
    if not files:
        raise _bad("it holds no `---`, `+++` and `@@` lines")
    if sum([_length(each) for each in files]) != len(lines):
        raise _bad("it has lines that belong to no hunk; is a count in an `@@` line wrong?")
    changes = tuple([_change(each) for each in files])
    named = [name for each in changes for name in (each.source, each.target) if name is not None]
    if set(named) != set(touched(text)):
        raise _bad("its headers name different files")
    if len({each.target or each.source for each in changes}) != len(changes):
        raise _bad("it changes a file twice")
    if target is not None and named != [target, target]:
        raise _bad(f"it is about {' and '.join(dict.fromkeys(named))}, not about {target} alone")
    return changes


def apply(data: bytes, change: Change) -> bytes:
    """The bytes of the file after the change; raises ExecplanError for a hunk that does not fit to the byte.

    A file whose lines all end in CRLF is changed by a diff whose lines end in LF, and keeps its line ends.
    """
    lines = cut(data)
    made: list[str] = []
    at = 0
    for number, hunk in enumerate(fitted(lines, change), 1):
        if hunk.start < at or tuple(lines[hunk.start : hunk.start + len(hunk.old)]) != hunk.old:
            raise _refused(number, hunk, lines, at)
        made += [*lines[at : hunk.start], *hunk.new]
        at = hunk.start + len(hunk.old)
    made += lines[at:]
    if any([not line.endswith("\n") for line in made[:-1]]):
        raise ExecplanError(
            "patch-does-not-apply", "a line in the middle would have no end", exit=NO, hint="see `\\ No newline` in it"
        )
    return "".join(made).encode("utf-8", "surrogateescape")


def fitted(lines: Sequence[str], change: Change) -> tuple[Hunk, ...]:
    """The hunks as the lines of a file take them: where all of these end in CRLF, and none of the diff's, with CRLF."""
    hunks = change.hunks
    if not are_returned(lines) or any([line.endswith("\r\n") for hunk in hunks for line in hunk.old + hunk.new]):
        return hunks
    return tuple([hunk._replace(old=_ended(hunk.old), new=_ended(hunk.new)) for hunk in hunks])


def _bare(text: str) -> bool:
    """Whether a diff begins with its hunks."""
    return next((line for line in text.split("\n") if line.strip()), "").startswith("@@")


def _length(file: PatchedFile) -> int:
    """How many lines a file has in the diff."""
    headers = 2 if file else 0
    return len(file.patch_info or ()) + headers + sum([1 + len(hunk) for hunk in file])


def _told(hunk: Read) -> list[tuple[str, str]]:
    """The lines of a hunk with their marks, without blank lines behind it."""
    return [(line.line_type, line.value) for line in hunk if line.line_type]


def _change(file: PatchedFile) -> Change:
    """What is said of a file; raises ExecplanError."""
    remarks = [str(line) for line in file.patch_info or ()]
    strange = [line.strip() for line in remarks if line.strip() and not line.startswith(_REMARKS)]
    if file.is_binary_file:
        raise _bad(f"{file.path} is a binary file")
    if strange:
        raise _bad(f"it says {strange[0]!r}, which is no line of a diff")
    source, target = _name(file.source_file), _name(file.target_file)
    renamed = any([line.startswith(_RENAMES) for line in remarks])
    if source is not None and target is not None and (source != target) != renamed:
        raise _bad(f"it is about {source} and about {target}, and not a rename")
    if not file and not renamed:
        raise _bad(f"it changes no line of {target or source}; an empty file is made by create_file")
    for mode in (file.source_mode, file.target_mode):
        if mode not in _MODES:
            raise _bad(f"{target or source} has the mode {mode}: only regular files are changed")
    return Change(source, target, tuple([_hunk(each) for each in file]), _MODES[file.target_mode])


def _name(said: str | None) -> str | None:
    """The path that a header names; raises ExecplanError."""
    if said is None or said.rstrip("\r") == _NOWHERE:
        return None
    if said.startswith('"'):
        raise _bad(f"it quotes the name {said}: write it as it is")
    name = said.rstrip("\r")
    return name[2:] if name[:2] in ("a/", "b/") else name


def _hunk(read: Read) -> Hunk:
    old: list[str] = []
    new: list[str] = []
    before = ""
    for mark, value in _told(read):
        if mark == "\\":
            for part, marks in ((old, " -"), (new, " +")):
                if before in marks and part:
                    part[-1] = part[-1].removesuffix("\n")
            continue
        if mark in " -":
            old.append(value)
        if mark in " +":
            new.append(value)
        before = mark
    # By its header a hunk without old lines stands behind a line, any other begins with one.
    start = read.source_start - 1 if old else read.source_start
    header = f"@@ -{read.source_start},{read.source_length} +{read.target_start},{read.target_length} @@"
    return Hunk(header, start, tuple(old), tuple(new))


def _ended(lines: Sequence[str]) -> tuple[str, ...]:
    """The lines with CRLF for LF."""
    return tuple([line[:-1] + "\r\n" if line.endswith("\n") else line for line in lines])


def _refused(number: int, hunk: Hunk, lines: list[str], at: int) -> ExecplanError:
    """Why a hunk does not fit, and where it would."""
    wanted = hunk.old
    fits = _places("".join(lines[at:]), "".join(wanted), at + 1)
    hint = "make the diff anew"
    if hunk.start < at:
        why = "it begins before the hunk above it ends"
    elif len(fits) == 1:
        why, hint = f"its lines stand at line {fits[0]}", "correct the numbers in its `@@` line"
    elif hunk.start >= len(lines) and wanted:
        why = f"the file has {len(lines)} lines"
    else:
        shown = zip(wanted, [*lines[hunk.start :], *[""] * len(wanted)], strict=False)
        line, want, have = next((n, w, h) for n, (w, h) in enumerate(shown, hunk.start + 1) if w != h)
        why = f"line {line} is {_short(have)}, not {_short(want)}"
    what = f"hunk {number} ({hunk.header}) does not fit: {why}"
    return ExecplanError("patch-does-not-apply", what, exit=NO, hint=hint)


def _places(text: str, part: str, first: int) -> list[int]:
    """The lines at which a part of a text begins, two at most; the text's first line has the number."""
    found: list[int] = []
    place = f"\n{text}".find(f"\n{part}") if part else -1
    while place >= 0 and len(found) < 2:
        found.append(first + text.count("\n", 0, place))
        place = f"\n{text}".find(f"\n{part}", place + 1)
    return found


def _short(line: str) -> str:
    line = line.removesuffix("\n")
    return repr(line if len(line) <= 60 else line[:59] + "…")


def _bad(why: str) -> ExecplanError:
    return ExecplanError("bad-patch", f"the diff can't be read: {why}", exit=INPUT, hint="make it with git diff")
