"""How an HTML block begins and what ends it: the seven kinds of CommonMark."""

from __future__ import annotations

_RAW = ("script", "pre", "style", "textarea")
_RAW_ENDS = ("</script>", "</pre>", "</style>", "</textarea>")
_BLOCKS = frozenset(  # in a row, because a name a line would take two screens
    (
        "address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt "
        "fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li "
        "link main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th "
        "thead title tr track ul"
    ).split()
)
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_NAME = _LETTERS | frozenset("0123456789-")
_ATTRIBUTE = _NAME | frozenset("_:.")


def html_ends(line: str, *, interrupts: bool) -> tuple[str, ...] | None:
    """What ends the HTML block that the line begins: marks in lower case, `()` for a blank line, None for no block.

    The line starts with `<`; `interrupts` says that a paragraph is open, which a lone tag does not end.
    """
    second = line[1:2]
    if second == "!":
        if line.startswith("<!--"):
            return ("-->",)
        if line.startswith("<![CDATA["):
            return ("]]>",)
        return (">",) if line[2:3] in _LETTERS else None
    if second == "?":
        return ("?>",)
    closing = second == "/"
    start = 2 if closing else 1
    end = start
    while line[end : end + 1] in _NAME:
        end += 1
    name = line[start:end].lower()
    if not name or name[0] not in _LETTERS:
        return None
    after = line[end : end + 1]
    if name in _RAW and not closing and after in ("", " ", ">"):
        return _RAW_ENDS
    if name in _BLOCKS and (after in ("", " ", ">") or line.startswith("/>", end)):
        return ()
    if interrupts:
        return None
    stop = _closing_tag(line, end) if closing else _open_tag(line, end)
    return () if stop and not line[stop:].strip(" ") else None


def _closing_tag(line: str, at: int) -> int:
    """Where a closing tag whose name ends at `at` ends, or 0."""
    at = _blanks(line, at)
    return at + 1 if line[at : at + 1] == ">" else 0


def _open_tag(line: str, at: int) -> int:
    """Where an opening tag whose name ends at `at` ends, or 0."""
    while True:
        begin = at
        at = _blanks(line, at)
        head = line[at : at + 1]
        if head == ">":
            return at + 1
        if head == "/":
            return at + 2 if line[at + 1 : at + 2] == ">" else 0
        if at == begin or not (head in _LETTERS or head in ("_", ":")):
            return 0
        while line[at : at + 1] in _ATTRIBUTE:
            at += 1
        value = _blanks(line, at)
        if line[value : value + 1] != "=":
            continue
        value = _blanks(line, value + 1)
        quote = line[value : value + 1]
        if quote in ('"', "'"):
            at = line.find(quote, value + 1) + 1
        else:
            at = value
            while line[at : at + 1] and line[at] not in " \"'=<>`":
                at += 1
        if at <= value:
            return 0


def _blanks(line: str, at: int) -> int:
    """The first column from `at` on that is no space."""
    while line[at : at + 1] == " ":
        at += 1
    return at
