"""Paths that a step writes, derived from its fields alone."""

from __future__ import annotations

from os.path import normpath

from execplan.core.text.pure_paths import WILDCARDS
from execplan.execution.attributes import MOVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_HEADER_PREFIXES = ("--- ", "+++ ", "rename from ", "rename to ", "copy from ", "copy to ")


def written_paths(step: Mapping[str, object]) -> list[str]:
    """Return the paths that a step writes or deletes; until its files are found, the directories in which it searches."""
    paths: dict[str, None] = {}
    target, patch, outputs = step.get("target"), step.get("patch"), step.get("outputs")
    origin, replacement, files = step.get("from"), step.get("replacement"), step.get("files") or ()
    if isinstance(replacement, dict) and isinstance(files, list | tuple):
        patterns = replacement.get("paths")
        patterns = patterns if isinstance(patterns, list | tuple) else ()
        paths |= dict.fromkeys(files or [glob_directory(path) for path in patterns if isinstance(path, str)])
    if isinstance(origin, str) and isinstance(target, str) and isinstance(files, list | tuple):
        paths |= dict.fromkeys((files or (origin,)) if step.get("type") == MOVE else ())
        paths |= dict.fromkeys([new_path(path, origin, target) for path in files])
    if isinstance(target, str) and step.get("type") != "install_package" and not (isinstance(origin, str) and files):
        paths[target] = None
    if isinstance(patch, str):
        paths |= dict.fromkeys(diff_paths(patch))
    if isinstance(outputs, list | tuple):
        paths |= dict.fromkeys([path for path in outputs if isinstance(path, str)])
    return list(paths)


def glob_directory(pattern: str) -> str:
    """Return the directory that has all paths which can match a pattern; `.` for the root."""
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    plain = 0
    while plain < len(parts) - 1 and WILDCARDS.isdisjoint(parts[plain]):
        plain += 1
    return "/".join(parts[:plain]) or "."


def new_path(path: str, origin: str, target: str) -> str:
    """Return the path that a file in `origin`, or that is `origin`, gets when it is copied or moved to `target`."""
    rest = normpath(path)[len(normpath(origin)) :]
    return target + rest if rest else target


def diff_paths(patch: str) -> list[str]:
    """Return the files in the headers of a unified diff, in order; hunk lines that look like headers are ignored."""
    paths: dict[str, None] = {}
    old = new = 0
    for line in patch.split("\n"):
        if old > 0 or new > 0:
            old -= line[:1] not in ("+", "\\")
            new -= line[:1] not in ("-", "\\")
        elif line.startswith("@@ "):
            old, new = _hunk_line_counts(line)
        elif line.startswith("diff --git "):
            paths |= dict.fromkeys(_git_header_paths(line.removeprefix("diff --git ").rstrip("\r")))
        elif line.startswith(_HEADER_PREFIXES):
            name = _header_path(line, has_prefix=line.startswith(_HEADER_PREFIXES[:2]))
            paths |= {name: None} if name else {}
    return list(paths)


def _hunk_line_counts(header: str) -> tuple[int, int]:
    """Return the numbers of old and new lines in a hunk header; zeros if it can't be parsed."""
    sizes = []
    for line_range in header.split(" ")[1:3]:
        size = line_range[1:].partition(",")[2] or "1"
        sizes.append(int(size) if size.isascii() and size.isdigit() and len(size) < 10 else 0)
    return (sizes[0], sizes[1]) if len(sizes) == 2 else (0, 0)


def _git_header_paths(text: str) -> list[str]:
    """Return the path of `a/PATH b/PATH` if both are equal; other files are named by `rename` lines."""
    half = len(text) // 2
    if len(text) % 2 and text[half] == " " and text[:2] == "a/" and text[half + 1 :] == "b/" + text[2:half]:
        return [text[2:half]]
    return []


def _header_path(line: str, *, has_prefix: bool) -> str:
    """Return the path in a header without a timestamp and Git's `a/` or `b/`; empty for /dev/null."""
    text = next(line.removeprefix(mark) for mark in _HEADER_PREFIXES if line.startswith(mark)).rstrip("\r")
    name = _unquote(text) if text.startswith('"') else text.partition("\t")[0]
    if name == "/dev/null":
        return ""
    return name[2:] if has_prefix and name[:2] in ("a/", "b/") else name


def _unquote(text: str) -> str:
    """Return a path that Git wrote in double quotes, with non-ASCII bytes as octal escapes."""
    from ast import literal_eval

    quoted = text[: text.rfind('"') + 1]
    try:
        value = literal_eval(f"b{quoted}") if quoted.isascii() and "\n" not in quoted else quoted
    except (SyntaxError, ValueError):
        return text
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else quoted.strip('"')
