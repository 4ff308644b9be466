"""Which paths a step writes, told from its fields alone."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_MARKS = ("--- ", "+++ ", "rename from ", "rename to ", "copy from ", "copy to ")


def written(step: Mapping[str, object]) -> list[str]:
    """What a step, as plain data, writes or deletes: target, files of its patch, declared outputs; each as it is named."""
    found: dict[str, None] = {}
    target, patch, outputs = step.get("target"), step.get("patch"), step.get("outputs")
    if isinstance(target, str) and step.get("type") != "install_package":
        found[target] = None
    if isinstance(patch, str):
        found |= dict.fromkeys(touched(patch))
    if isinstance(outputs, list | tuple):
        found |= dict.fromkeys([each for each in outputs if isinstance(each, str)])
    return list(found)


def touched(patch: str) -> list[str]:
    """The files that a unified diff names in its headers, in order; never a line of a hunk that looks like a header."""
    found: dict[str, None] = {}
    old = new = 0
    for line in patch.split("\n"):
        if old > 0 or new > 0:
            old -= line[:1] not in ("+", "\\")
            new -= line[:1] not in ("-", "\\")
        elif line.startswith("@@ "):
            old, new = _counts(line)
        elif line.startswith("diff --git "):
            found |= dict.fromkeys(_both(line.removeprefix("diff --git ").rstrip("\r")))
        elif line.startswith(_MARKS):
            name = _name(line, prefixed=line.startswith(_MARKS[:2]))
            found |= {name: None} if name else {}
    return list(found)


def _counts(header: str) -> tuple[int, int]:
    """How many old and new lines a hunk has, by its header; none where it can't be read."""
    sizes = []
    for part in header.split(" ")[1:3]:
        size = part[1:].partition(",")[2] or "1"
        sizes.append(int(size) if size.isascii() and size.isdigit() and len(size) < 10 else 0)
    return (sizes[0], sizes[1]) if len(sizes) == 2 else (0, 0)


def _both(said: str) -> list[str]:
    """The path of `a/PATH b/PATH`, where both are the same; others are named by `rename` lines."""
    half = len(said) // 2
    if len(said) % 2 and said[half] == " " and said[:2] == "a/" and said[half + 1 :] == "b/" + said[2:half]:
        return [said[2:half]]
    return []


def _name(line: str, *, prefixed: bool) -> str:
    """The path in a header, nothing for /dev/null: without a time behind it, and without git's `a/` and `b/`."""
    said = next(line.removeprefix(mark) for mark in _MARKS if line.startswith(mark)).rstrip("\r")
    name = _unquoted(said) if said.startswith('"') else said.partition("\t")[0]
    if name == "/dev/null":
        return ""
    return name[2:] if prefixed and name[:2] in ("a/", "b/") else name


def _unquoted(said: str) -> str:
    """A path that git wrote in double quotes, with the bytes of other characters as octal numbers."""
    from ast import literal_eval

    quoted = said[: said.rfind('"') + 1]
    try:
        value = literal_eval(f"b{quoted}") if quoted.isascii() and "\n" not in quoted else quoted
    except (SyntaxError, ValueError):
        return said
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else quoted.strip('"')
