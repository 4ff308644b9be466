"""Parser for link reference definitions, the only paragraphs that an underline does not turn into headings."""

from __future__ import annotations

_SPACES = " \t"


def definition_line_count(lines: list[str]) -> int:
    """Return how many first lines of a paragraph are link reference definitions; the lines come without indentation."""
    text = "\n".join(lines)
    index = 0
    while text.startswith("[", index):
        end = _definition_end(text, index)
        if end < 0:
            break
        index = end
        while index < len(text) and text[index] in _SPACES:
            index += 1
    return len(lines) if index >= len(text) else text.count("\n", 0, index)


def _definition_end(text: str, index: int) -> int:
    """Return the end of the definition at `index`, after its line end, or -1."""
    index = _label_end(text, index)
    if index < 0 or text[index : index + 1] != ":":
        return -1
    index = _destination_end(text, _skip_whitespace(text, index + 1))
    if index < 0:
        return -1
    title_start = _skip_whitespace(text, index)
    if title_start > index:
        end = _title_end(text, title_start)
        if end >= 0:
            end = _line_end(text, end)
            if end >= 0:
                return end
    return _line_end(text, index)


def _label_end(text: str, index: int) -> int:
    """Return the index after the `]` of a nonempty label of at most 999 characters, or -1."""
    begin = index = index + 1
    while index < len(text) and index - begin < 1000:
        char = text[index]
        if char == "]":
            return index + 1 if text[begin:index].strip() else -1
        if char == "[":
            return -1
        index += 2 if char == "\\" else 1
    return -1


def _destination_end(text: str, index: int) -> int:
    """Return the index after a link destination, or -1."""
    if text[index : index + 1] == "<":
        index += 1
        while index < len(text) and text[index] not in "<\n":
            if text[index] == ">":
                return index + 1
            index += 2 if text[index] == "\\" else 1
        return -1
    begin = index
    depth = 0
    while index < len(text) and text[index] > " " and text[index] != "\x7f":
        if text[index] == "\\" and text[index + 1 : index + 2] > " ":
            index += 1
        elif text[index] == "(":
            depth += 1
            if depth > 32:
                return -1
        elif text[index] == ")":
            if not depth:
                break
            depth -= 1
        index += 1
    return -1 if index == begin or depth else index


def _title_end(text: str, index: int) -> int:
    """Return the index after a link title, or -1."""
    closer = {'"': '"', "'": "'", "(": ")"}.get(text[index : index + 1])
    if not closer:
        return -1
    index += 1
    while index < len(text):
        char = text[index]
        if char == closer:
            return index + 1
        if char == "(" and closer == ")":
            return -1
        index += 2 if char == "\\" else 1
    return -1


def _skip_whitespace(text: str, index: int) -> int:
    """Return the index after white space that contains at most one line end."""
    line_ends = 0
    while index < len(text) and (text[index] in _SPACES or (text[index] == "\n" and not line_ends)):
        line_ends += text[index] == "\n"
        index += 1
    return index


def _line_end(text: str, index: int) -> int:
    """Return the index after the end of a line that contains only spaces and tabs from `index` on, or -1."""
    while index < len(text) and text[index] in _SPACES:
        index += 1
    if index >= len(text):
        return index
    return index + 1 if text[index] == "\n" else -1


def heading_anchor(text: str, counts: dict[str, int]) -> str:
    """Return the anchor that GitHub gives a heading; `counts` has the number of earlier headings with each anchor."""
    text = text.strip().lower()
    slug = "".join([char for char in text if char.isalnum() or char in "-_ "]).replace(" ", "-")
    count = counts.get(slug, 0)
    counts[slug] = count + 1
    return f"{slug}-{count}" if count else slug
