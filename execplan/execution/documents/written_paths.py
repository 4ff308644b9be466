"""Which paths a step writes, told from its fields alone."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_HEADER_PREFIXES = ("--- ", "+++ ", "rename from ", "rename to ", "copy from ", "copy to ")


def written_paths(step: Mapping[str, object]) -> list[str]:
    """What a step, as plain data, writes or deletes: target, files of its patch, declared outputs; each as it is named."""
    paths: dict[str, None] = {}
    target, patch, outputs = step.get("target"), step.get("patch"), step.get("outputs")
    if isinstance(target, str) and step.get("type") != "install_package":
        paths[target] = None
    if isinstance(patch, str):
        paths |= dict.fromkeys(diff_paths(patch))
    if isinstance(outputs, list | tuple):
        paths |= dict.fromkeys([path for path in outputs if isinstance(path, str)])
    return list(paths)


def diff_paths(patch: str) -> list[str]:
    """The files that a unified diff names in its headers, in order; never a line of a hunk that looks like a header."""
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
    """How many old and new lines a hunk has, by its header; none where it can't be read."""
    sizes = []
    for line_range in header.split(" ")[1:3]:
        size = line_range[1:].partition(",")[2] or "1"
        sizes.append(int(size) if size.isascii() and size.isdigit() and len(size) < 10 else 0)
    return (sizes[0], sizes[1]) if len(sizes) == 2 else (0, 0)


def _git_header_paths(text: str) -> list[str]:
    """The path of `a/PATH b/PATH`, where both are the same; others are named by `rename` lines."""
    half = len(text) // 2
    if len(text) % 2 and text[half] == " " and text[:2] == "a/" and text[half + 1 :] == "b/" + text[2:half]:
        return [text[2:half]]
    return []


def _header_path(line: str, *, has_prefix: bool) -> str:
    """The path in a header, nothing for /dev/null: without a time behind it, and without git's `a/` and `b/`."""
    text = next(line.removeprefix(mark) for mark in _HEADER_PREFIXES if line.startswith(mark)).rstrip("\r")
    name = _unquote(text) if text.startswith('"') else text.partition("\t")[0]
    if name == "/dev/null":
        return ""
    return name[2:] if has_prefix and name[:2] in ("a/", "b/") else name


def _unquote(text: str) -> str:
    """A path that git wrote in double quotes, with the bytes of other characters as octal numbers."""
    from ast import literal_eval

    quoted = text[: text.rfind('"') + 1]
    try:
        value = literal_eval(f"b{quoted}") if quoted.isascii() and "\n" not in quoted else quoted
    except (SyntaxError, ValueError):
        return text
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else quoted.strip('"')
