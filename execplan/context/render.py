"""A pack as it is printed, in markdown or XML: what is in it is data, and can't end what it stands in."""

from __future__ import annotations

import re
from html import escape

from execplan.context.unit import KEEP, SUMMARIZE, TRUNCATE, Pack, Unit
from execplan.text.hidden import escaped, may_hide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

_TITLE: Final = 160
"""Characters of a title; the rest is cut."""
_DID = {KEEP: "", SUMMARIZE: "summarized", TRUNCATE: "truncated"}
_TICKS = re.compile(r"`{3,}")
_ODD = re.compile("[\ud800-\udfff\ufffe\uffff]")
"""What is no character, and can't stand in UTF-8 or XML."""
_LANGUAGES = {
    "c": "c", "cc": "cpp", "cpp": "cpp", "cs": "csharp", "css": "css", "diff": "diff", "go": "go", "h": "c", "html": "html",
    "java": "java", "js": "js", "json": "json", "jsx": "jsx", "kt": "kotlin", "md": "md", "patch": "diff", "php": "php",
    "py": "python", "rb": "ruby", "rs": "rust", "scala": "scala", "sh": "sh", "sql": "sql", "swift": "swift",
    "toml": "toml", "ts": "ts", "tsx": "tsx", "xml": "xml", "yaml": "yaml", "yml": "yaml",
}  # fmt: skip
"""What a fence says, by the ending of a path."""


class Form:
    """How a pack is printed."""

    name = ""

    def piece(self, unit: Unit, text: str, action: str) -> str:
        """What is printed of a unit, with all that is around it."""
        raise NotImplementedError

    def whole(self, pack: Pack, pieces: Sequence[str], *, shortened: bool) -> str:
        """The pack of these pieces; `shortened`: some are not whole, or are left out."""
        raise NotImplementedError


class Markdown(Form):
    """A heading and a fence for each unit."""

    name = "markdown"

    def piece(self, unit: Unit, text: str, action: str) -> str:
        """A heading, and the text in a fence that is longer than any in it."""
        text = visible(text)
        notes = [each for each in (_lines(unit), _DID[action] and f"{_DID[action]}, id {line(unit.id)}") if each]
        title = line(unit.title) or line(unit.path) or line(unit.id)
        heading = f"## {unit.type.replace('_', ' ')}: {title}" + (f" ({', '.join(notes)})" if notes else "")
        fence = "`" * max([3, *[len(each) + 1 for each in _TICKS.findall(text)]])
        language = _LANGUAGES.get(unit.path.rsplit(".", 1)[-1].lower(), "") if "." in unit.path else ""
        return f"{heading}\n\n{fence}{language}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}\n\n"

    def whole(self, pack: Pack, pieces: Sequence[str], *, shortened: bool) -> str:
        """A title, how the rest can be read, and the pieces."""
        more = f"Some items are shortened or left out. `{_command(pack)} --explain` lists them, `--item ID` prints one whole.\n\n"
        return f"# What to read for {line(pack.title) or line(pack.plan_id)}\n\n{more if shortened else ''}{''.join(pieces)}"


class Xml(Form):
    """An element for each unit."""

    name = "xml"

    def piece(self, unit: Unit, text: str, action: str) -> str:
        """An element with the text as CDATA."""
        names = {"id": unit.id, "type": unit.type, "title": unit.title, "path": unit.path}
        names.update(lines=_lines(unit).removeprefix("lines "), action=action)
        if names["title"] in (unit.id, unit.path):
            names["title"] = ""
        told = "".join([f' {name}="{escape(line(value))}"' for name, value in names.items() if value])
        data = visible(text).replace("]]>", "]]]]><![CDATA[>")
        return f"<unit{told}><![CDATA[{data}]]></unit>\n"

    def whole(self, pack: Pack, pieces: Sequence[str], *, shortened: bool) -> str:
        """An element that holds the pieces, with the command that prints one of them whole."""
        told = f'plan="{escape(line(pack.plan_id))}" title="{escape(line(pack.title))}"'
        told += f' whole="{escape(_command(pack))} --item ID"' if shortened else ""
        return f"<context {told}>\n{''.join(pieces)}</context>\n"


MARKDOWN: Final = Markdown()
XML: Final = Xml()
FORMS = {form.name: form for form in (MARKDOWN, XML)}


def line(words: str) -> str:
    """Words as one line that is not too long, with nothing in it that can't be seen."""
    shown = visible(" ".join(words.split()))
    return shown if len(shown) <= _TITLE else shown[: _TITLE - 1] + "…"


def visible(text: str) -> str:
    """A text whose lines end with LF, with every character escaped that can't be seen or turns the direction."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not may_hide(text.replace("\n", "").replace("\t", "")):
        return text
    return "\n".join([_shown(each) for each in text.split("\n")])


def _shown(words: str) -> str:
    words = escaped(words, lambda run: "".join([_escaped(char) for char in run]))
    return _ODD.sub(lambda found: _escaped(found[0]), words)


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04x}" if char <= "\uffff" else f"\\U{ord(char):08x}"


def _command(pack: Pack) -> str:
    """The command that made the pack, without its flags."""
    from shlex import quote

    return f"execplan context {quote(line(pack.plan_id))}"


def _lines(unit: Unit) -> str:
    """Which lines of its file a unit is."""
    return f"lines {unit.line_start}-{unit.line_end}" if unit.line_start and unit.line_end else ""
