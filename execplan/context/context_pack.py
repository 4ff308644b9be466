"""Context packs and their units, and their printed forms in Markdown or XML.

Content is data and can't end the block that contains it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from typing import Final

from execplan.core.named_tuple import NamedTuple
from execplan.core.text.invisible_characters import may_have_hidden, replace_hidden
from execplan.core.text.message_parts import shorten

SECTION: Final = "section"
TASK: Final = "task"
DECISION: Final = "decision"
DISCOVERY: Final = "discovery"
FILE: Final = "file"
ARTIFACT: Final = "artifact"
DIFF: Final = "diff"
MESSAGE: Final = "message"
TOOL_RESULT: Final = "tool_result"
INSTRUCTION: Final = "instruction"
TYPES = (SECTION, TASK, DECISION, DISCOVERY, FILE, ARTIFACT, DIFF, MESSAGE, TOOL_RESULT, INSTRUCTION)
PLAN_TYPES = (SECTION, TASK, DECISION, DISCOVERY)
"""Unit types that are parts of the plan."""

KEEP: Final = "keep"
SUMMARIZE: Final = "summarize"
TRUNCATE: Final = "truncate"
PRUNE: Final = "prune"
ACTIONS = (KEEP, SUMMARIZE, TRUNCATE, PRUNE)


class Unit(NamedTuple):
    """A unit of context before an action is chosen for it."""

    id: str
    """Unique ID, stable as long as its subject exists: `section:purpose`, `task:t6a76z2`, `file:src/reader.py`."""
    type: str
    """Unit type, one of `TYPES`."""
    content: str
    title: str = ""
    """Human-readable name: a heading, a path, or `user, 12:03`."""
    path: str = ""
    """Path from the repository root, for a unit that comes from a file."""
    line_start: int = 0
    """First line, counted from 1; 0 if the unit has no lines."""
    line_end: int = 0
    order: int = 0
    """Age order; higher is newer. Messages use their position in the log, files the rank of their modification time."""
    pinned: str = ""
    """Reason why the unit is never pruned, or empty.

    Such units are the purpose, the next open task, the last decisions, and anything requested by name.
    """
    references: tuple[str, ...] = ()
    """Paths and IDs that the unit mentions."""
    affinity: float | None = None
    """How probably a file of the repository is needed, from 0 to 1; None for other units."""
    origin: str = ""
    """Why a file of the repository is here."""
    comes_first: bool = False
    """Whether the unit comes before all others that are not pinned: constraints, and the milestone of the task."""
    omission: str = ""
    """Why the unit needs no reading, such as `is completed`; empty if it does."""


class ContextPack(NamedTuple):
    """A plan's units, with the text that they are scored against."""

    plan_id: str
    title: str
    task: str
    """Text of the next task or the requested task; empty if all tasks are done."""
    purpose: str
    """Text of the plan's purpose, used to score relevance."""
    units: tuple[Unit, ...]
    """Units in the order in which they are printed."""
    session: frozenset[str] = frozenset()
    """IDs of the units that belong to a conversation; empty if no conversation was supplied."""


def redact_pack(pack: ContextPack, redact: Callable[[str], str]) -> ContextPack:
    """Redact every text of a pack.

    IDs and paths stay, because they identify things. Redact before anything is shortened.
    """
    units = [unit._replace(content=redact(unit.content), title=redact(unit.title)) for unit in pack.units]
    return pack._replace(
        title=redact(pack.title), task=redact(pack.task), purpose=redact(pack.purpose), units=tuple(units)
    )


_MAX_TITLE_CHARS: Final = 160
"""Maximum characters of a title; the rest is cut."""
_ACTION_LABELS = {KEEP: "", SUMMARIZE: "summarized", TRUNCATE: "truncated"}
_SHORTENED: Final = (SUMMARIZE, TRUNCATE)
_BACKTICKS = re.compile(r"`{3,}")
_INVALID_CHARS = re.compile("[\ud800-\udfff\ufffe\uffff]")
"""Code points that are not characters and can't appear in UTF-8 or XML."""
_LANGUAGES = {
    "c": "c", "cc": "cpp", "cpp": "cpp", "cs": "csharp", "css": "css", "diff": "diff", "go": "go", "h": "c", "html": "html",
    "java": "java", "js": "js", "json": "json", "jsx": "jsx", "kt": "kotlin", "md": "md", "patch": "diff", "php": "php",
    "py": "python", "rb": "ruby", "rs": "rust", "scala": "scala", "sh": "sh", "sql": "sql", "swift": "swift",
    "toml": "toml", "ts": "ts", "tsx": "tsx", "xml": "xml", "yaml": "yaml", "yml": "yaml",
}  # fmt: skip
"""Language tag of a code block, by file extension."""


class PackFormat:
    """Base class for the output formats of a pack."""

    name = ""

    def escape(self, text: str) -> str:
        """Return a visible text as it is printed in a unit."""
        return text

    def render_unit(self, unit: Unit, text: str, action: str) -> str:
        """Return the printed text of a unit, including its heading or element."""
        raise NotImplementedError

    def render_pack(self, pack: ContextPack, rendered_units: Sequence[str], *, is_shortened: bool) -> str:
        """Assemble a pack from rendered units; `is_shortened` means that some are shortened or left out."""
        raise NotImplementedError


class MarkdownFormat(PackFormat):
    """Markdown format with a heading and a code block for each unit."""

    name = "markdown"

    def render_unit(self, unit: Unit, text: str, action: str) -> str:
        """Return a heading and a code block with a fence that is longer than any run of backticks in the text."""
        text = make_visible(text)
        title = one_line(unit.title) or one_line(unit.path) or one_line(unit.id)
        unit_id = one_line(unit.id) if action in _SHORTENED and unit.id != f"{unit.type}:{title}" else ""
        notes = [note for note in (_line_range(unit), _ACTION_LABELS[action], unit_id and f"id {unit_id}") if note]
        heading = f"## {unit.type.replace('_', ' ')}: {title}" + (f" ({', '.join(notes)})" if notes else "")
        fence = "`" * max([3, *[len(backticks) + 1 for backticks in _BACKTICKS.findall(text)]])
        language = _LANGUAGES.get(unit.path.rsplit(".", 1)[-1].lower(), "") if "." in unit.path else ""
        return f"{heading}\n\n{fence}{language}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}\n\n"

    def render_pack(self, pack: ContextPack, rendered_units: Sequence[str], *, is_shortened: bool) -> str:
        """Return a title, a note on how to read omitted content, and the rendered units."""
        omission_note = f"Some items are shortened or left out. `{_pack_command(pack)} --explain` lists them, `--item ID` prints one in full.\n\n"
        return f"# Context for {one_line(pack.title) or one_line(pack.plan_id)}\n\n{omission_note if is_shortened else ''}{''.join(rendered_units)}"


class XmlFormat(PackFormat):
    """XML format with an element for each unit."""

    name = "xml"

    def escape(self, text: str) -> str:
        """Return a text in which nothing ends CDATA."""
        return text.replace("]]>", "]]]]><![CDATA[>")

    def render_unit(self, unit: Unit, text: str, action: str) -> str:
        """Return an element with the text as CDATA."""
        attributes = {"id": unit.id, "type": unit.type, "title": unit.title, "path": unit.path}
        attributes.update(lines=_line_range(unit).removeprefix("lines "), action=action)
        if attributes["title"] in (unit.id, unit.path):
            attributes["title"] = ""
        attribute_text = "".join(
            [f' {name}="{escape(one_line(value))}"' for name, value in attributes.items() if value]
        )
        return f"<unit{attribute_text}><![CDATA[{self.escape(make_visible(text))}]]></unit>\n"

    def render_pack(self, pack: ContextPack, rendered_units: Sequence[str], *, is_shortened: bool) -> str:
        """Return an element with the rendered units, and the command that prints one of them in full."""
        attribute_text = f'plan="{escape(one_line(pack.plan_id))}" title="{escape(one_line(pack.title))}"'
        attribute_text += f' whole="{escape(_pack_command(pack))} --item ID"' if is_shortened else ""
        return f"<context {attribute_text}>\n{''.join(rendered_units)}</context>\n"


MARKDOWN: Final = MarkdownFormat()
XML: Final = XmlFormat()
FORMATS = {pack_format.name: pack_format for pack_format in (MARKDOWN, XML)}


def one_line(text: str) -> str:
    """Return a text as one line of limited length, with invisible characters escaped."""
    return shorten(make_visible(" ".join(text.split())), _MAX_TITLE_CHARS)


def make_visible(text: str) -> str:
    """Normalize line endings to LF, and escape invisible characters and those that change the text direction."""
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
    """Return the command that printed the pack, without its flags."""
    from shlex import quote

    return f"execplan context {quote(one_line(pack.plan_id))}"


def _line_range(unit: Unit) -> str:
    """Return the range of lines of a unit in its file, or an empty string."""
    return f"lines {unit.line_start}-{unit.line_end}" if unit.line_start and unit.line_end else ""
