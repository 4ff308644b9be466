"""Rules of CommonMark for HTML blocks and link reference definitions, which decide where these blocks start and end.

Link reference definitions are the only paragraphs that an underline does not turn into headings.
"""

from __future__ import annotations

_SPACES = " \t"
_RAW_TAGS = ("script", "pre", "style", "textarea")
_RAW_ENDS = ("</script>", "</pre>", "</style>", "</textarea>")
_BLOCK_TAGS = frozenset(  # on shared lines: one name a line would take two screens
    (
        "address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt "
        "fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li "
        "link main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th "
        "thead title tr track ul"
    ).split()
)
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_NAME_CHARS = _LETTERS | frozenset("0123456789-")
_ATTRIBUTE_CHARS = _NAME_CHARS | frozenset("_:.")


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
    if not (closer := {'"': '"', "'": "'", "(": ")"}.get(text[index : index + 1])):
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


def html_end_marks(line: str, *, in_paragraph: bool) -> tuple[str, ...] | None:
    """Return the lowercase end marks of the HTML block that a line starts: `()` for a blank line, None for no block.

    The line starts with `<`; `in_paragraph` means that a paragraph is open, which a lone tag does not end.
    """
    second_char = line[1:2]
    if second_char == "!":
        if line.startswith("<!--"):
            return ("-->",)
        if line.startswith("<![CDATA["):
            return ("]]>",)
        return (">",) if line[2:3] in _LETTERS else None
    if second_char == "?":
        return ("?>",)
    is_closing = second_char == "/"
    start = 2 if is_closing else 1
    end = start
    while line[end : end + 1] in _NAME_CHARS:
        end += 1
    name = line[start:end].lower()
    if not name or name[0] not in _LETTERS:
        return None
    char_after = line[end : end + 1]
    if name in _RAW_TAGS and not is_closing and char_after in ("", " ", ">"):
        return _RAW_ENDS
    if name in _BLOCK_TAGS and (char_after in ("", " ", ">") or line.startswith("/>", end)):
        return ()
    if in_paragraph:
        return None
    tag_end = _closing_tag_end(line, end) if is_closing else _open_tag_end(line, end)
    return () if tag_end and not line[tag_end:].strip(" ") else None


def _closing_tag_end(line: str, index: int) -> int:
    """Return the end of a closing tag whose name ends at `index`, or 0."""
    index = _skip_spaces(line, index)
    return index + 1 if line[index : index + 1] == ">" else 0


def _open_tag_end(line: str, index: int) -> int:
    """Return the end of an opening tag whose name ends at `index`, or 0."""
    while True:
        previous_index = index
        index = _skip_spaces(line, index)
        first_char = line[index : index + 1]
        if first_char == ">":
            return index + 1
        if first_char == "/":
            return index + 2 if line[index + 1 : index + 2] == ">" else 0
        if index == previous_index or not (first_char in _LETTERS or first_char in ("_", ":")):
            return 0
        while line[index : index + 1] in _ATTRIBUTE_CHARS:
            index += 1
        value = _skip_spaces(line, index)
        if line[value : value + 1] != "=":
            continue
        value = _skip_spaces(line, value + 1)
        quote = line[value : value + 1]
        if quote in ('"', "'"):
            index = line.find(quote, value + 1) + 1
        else:
            index = value
            while line[index : index + 1] and line[index] not in " \"'=<>`":
                index += 1
        if index <= value:
            return 0


def _skip_spaces(line: str, index: int) -> int:
    """Return the first column from `index` on that is not a space."""
    while line[index : index + 1] == " ":
        index += 1
    return index
