"""A pack as it is printed, in markdown or XML: what is in it is data, and can't end what it stands in."""

from __future__ import annotations

import re
from html import escape

from execplan.context.context_pack import KEEP, SUMMARIZE, TRUNCATE, ContextPack, Unit
from execplan.text.invisible_characters import may_have_hidden, replace_hidden

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

_MAX_TITLE_CHARS: Final = 160
"""Characters of a title; the rest is cut."""
_ACTION_LABELS = {KEEP: "", SUMMARIZE: "summarized", TRUNCATE: "truncated"}
_BACKTICKS = re.compile(r"`{3,}")
_INVALID_CHARS = re.compile("[\ud800-\udfff\ufffe\uffff]")
"""What is no character, and can't stand in UTF-8 or XML."""
_LANGUAGES = {
    "c": "c", "cc": "cpp", "cpp": "cpp", "cs": "csharp", "css": "css", "diff": "diff", "go": "go", "h": "c", "html": "html",
    "java": "java", "js": "js", "json": "json", "jsx": "jsx", "kt": "kotlin", "md": "md", "patch": "diff", "php": "php",
    "py": "python", "rb": "ruby", "rs": "rust", "scala": "scala", "sh": "sh", "sql": "sql", "swift": "swift",
    "toml": "toml", "ts": "ts", "tsx": "tsx", "xml": "xml", "yaml": "yaml", "yml": "yaml",
}  # fmt: skip
"""What a fence says, by the ending of a path."""


class PackFormat:
    """How a pack is printed."""

    name = ""

    def render_unit(self, unit: Unit, text: str, action: str) -> str:
        """What is printed of a unit, with all that is around it."""
        raise NotImplementedError

    def render_pack(self, pack: ContextPack, rendered_units: Sequence[str], *, is_shortened: bool) -> str:
        """The pack of these pieces; `is_shortened`: some are not whole, or are left out."""
        raise NotImplementedError


class MarkdownFormat(PackFormat):
    """A heading and a fence for each unit."""

    name = "markdown"

    def render_unit(self, unit: Unit, text: str, action: str) -> str:
        """A heading, and the text in a fence that is longer than any in it."""
        text = make_visible(text)
        notes = [
            note
            for note in (
                _line_range(unit),
                _ACTION_LABELS[action] and f"{_ACTION_LABELS[action]}, id {one_line(unit.id)}",
            )
            if note
        ]
        title = one_line(unit.title) or one_line(unit.path) or one_line(unit.id)
        heading = f"## {unit.type.replace('_', ' ')}: {title}" + (f" ({', '.join(notes)})" if notes else "")
        fence = "`" * max([3, *[len(backticks) + 1 for backticks in _BACKTICKS.findall(text)]])
        language = _LANGUAGES.get(unit.path.rsplit(".", 1)[-1].lower(), "") if "." in unit.path else ""
        return f"{heading}\n\n{fence}{language}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}\n\n"

    def render_pack(self, pack: ContextPack, rendered_units: Sequence[str], *, is_shortened: bool) -> str:
        """A title, how the rest can be read, and the pieces."""
        omission_note = f"Some items are shortened or left out. `{_pack_command(pack)} --explain` lists them, `--item ID` prints one whole.\n\n"
        return f"# What to read for {one_line(pack.title) or one_line(pack.plan_id)}\n\n{omission_note if is_shortened else ''}{''.join(rendered_units)}"


class XmlFormat(PackFormat):
    """An element for each unit."""

    name = "xml"

    def render_unit(self, unit: Unit, text: str, action: str) -> str:
        """An element with the text as CDATA."""
        attributes = {"id": unit.id, "type": unit.type, "title": unit.title, "path": unit.path}
        attributes.update(lines=_line_range(unit).removeprefix("lines "), action=action)
        if attributes["title"] in (unit.id, unit.path):
            attributes["title"] = ""
        attribute_text = "".join(
            [f' {name}="{escape(one_line(value))}"' for name, value in attributes.items() if value]
        )
        cdata = make_visible(text).replace("]]>", "]]]]><![CDATA[>")
        return f"<unit{attribute_text}><![CDATA[{cdata}]]></unit>\n"

    def render_pack(self, pack: ContextPack, rendered_units: Sequence[str], *, is_shortened: bool) -> str:
        """An element that holds the pieces, with the command that prints one of them whole."""
        attribute_text = f'plan="{escape(one_line(pack.plan_id))}" title="{escape(one_line(pack.title))}"'
        attribute_text += f' whole="{escape(_pack_command(pack))} --item ID"' if is_shortened else ""
        return f"<context {attribute_text}>\n{''.join(rendered_units)}</context>\n"


MARKDOWN: Final = MarkdownFormat()
XML: Final = XmlFormat()
FORMATS = {pack_format.name: pack_format for pack_format in (MARKDOWN, XML)}


def one_line(text: str) -> str:
    """Words as one line that is not too long, with nothing in it that can't be seen."""
    visible_text = make_visible(" ".join(text.split()))
    return visible_text if len(visible_text) <= _MAX_TITLE_CHARS else visible_text[: _MAX_TITLE_CHARS - 1] + "…"


def make_visible(text: str) -> str:
    """A text whose lines end with LF, with every character escaped that can't be seen or turns the direction."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not may_have_hidden(text.replace("\n", "").replace("\t", "")):
        return text
    return "\n".join([_escape_hidden(text_line) for text_line in text.split("\n")])


def _escape_hidden(text: str) -> str:
    text = replace_hidden(text, lambda run: "".join([_escape_char(char) for char in run]))
    return _INVALID_CHARS.sub(lambda match: _escape_char(match[0]), text)


def _escape_char(char: str) -> str:
    return f"\\u{ord(char):04x}" if char <= "\uffff" else f"\\U{ord(char):08x}"


def _pack_command(pack: ContextPack) -> str:
    """The command that made the pack, without its flags."""
    from shlex import quote

    return f"execplan context {quote(one_line(pack.plan_id))}"


def _line_range(unit: Unit) -> str:
    """Which lines of its file a unit is."""
    return f"lines {unit.line_start}-{unit.line_end}" if unit.line_start and unit.line_end else ""
