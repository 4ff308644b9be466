"""Link reference definitions: the one kind of paragraph that an underline does not turn into a heading."""

from __future__ import annotations

_SPACE = " \t"


def definition_lines(lines: list[str]) -> int:
    """How many of a paragraph's first lines are link reference definitions; lines come without their indentation."""
    text = "\n".join(lines)
    at = 0
    while text.startswith("[", at):
        end = _definition(text, at)
        if end < 0:
            break
        at = end
        while at < len(text) and text[at] in _SPACE:
            at += 1
    return len(lines) if at >= len(text) else text.count("\n", 0, at)


def _definition(text: str, at: int) -> int:
    """Where the definition at `at` ends, past its line end, or -1."""
    at = _label(text, at)
    if at < 0 or text[at : at + 1] != ":":
        return -1
    at = _destination(text, _gap(text, at + 1))
    if at < 0:
        return -1
    title = _gap(text, at)
    if title > at:
        end = _title(text, title)
        if end >= 0:
            end = _line_end(text, end)
            if end >= 0:
                return end
    return _line_end(text, at)


def _label(text: str, at: int) -> int:
    """Past the `]` of a label of at most 999 characters that says something, or -1."""
    begin = at = at + 1
    while at < len(text) and at - begin < 1000:
        char = text[at]
        if char == "]":
            return at + 1 if text[begin:at].strip() else -1
        if char == "[":
            return -1
        at += 2 if char == "\\" else 1
    return -1


def _destination(text: str, at: int) -> int:
    """Past a link destination, or -1."""
    if text[at : at + 1] == "<":
        at += 1
        while at < len(text) and text[at] not in "<\n":
            if text[at] == ">":
                return at + 1
            at += 2 if text[at] == "\\" else 1
        return -1
    begin = at
    depth = 0
    while at < len(text) and text[at] > " " and text[at] != "\x7f":
        if text[at] == "\\" and text[at + 1 : at + 2] > " ":
            at += 1
        elif text[at] == "(":
            depth += 1
            if depth > 32:
                return -1
        elif text[at] == ")":
            if not depth:
                break
            depth -= 1
        at += 1
    return -1 if at == begin or depth else at


def _title(text: str, at: int) -> int:
    """Past a link title, or -1."""
    closer = {'"': '"', "'": "'", "(": ")"}.get(text[at : at + 1])
    if not closer:
        return -1
    at += 1
    while at < len(text):
        char = text[at]
        if char == closer:
            return at + 1
        if char == "(" and closer == ")":
            return -1
        at += 2 if char == "\\" else 1
    return -1


def _gap(text: str, at: int) -> int:
    """Past white space with at most one line end in it."""
    ends = 0
    while at < len(text) and (text[at] in _SPACE or (text[at] == "\n" and not ends)):
        ends += text[at] == "\n"
        at += 1
    return at


def _line_end(text: str, at: int) -> int:
    """Past the end of a line that holds nothing more, or -1."""
    while at < len(text) and text[at] in _SPACE:
        at += 1
    if at >= len(text):
        return at
    return at + 1 if text[at] == "\n" else -1
