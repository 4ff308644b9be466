"""Where in a JSON text a value can be put in and taken out again, so that every other byte stays as it is."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from execplan.agents.jsons import BOM, END, parse, wrong
from execplan.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.agents.jsons import Node

_INDENT = re.compile(r"[ \t]*")


class Spot(NamedTuple):
    """Where a value can be put in, and what has to stand around it."""

    at: int
    before: str
    after: str
    made: int
    """How many of the containers that lead to it stand in `before` and `after`."""
    form: Form
    depth: int
    """How much deeper the value stands than what `form` is of."""


class Form(NamedTuple):
    """How a text is laid out."""

    end: str
    """How a line ends; nothing: all stands in one line."""
    unit: str
    """What an inner line is indented by."""
    indent: str
    """What the line is indented by in which a value stands."""
    spaced: bool
    """Whether a blank stands behind colons and commas."""

    def line(self, depth: int) -> str:
        """What stands between two lines, the second so much deeper than the value."""
        return self.end + self.indent + self.unit * depth if self.end else ""

    def written(self, value: Any, depth: int) -> str:
        """A value, laid out so much deeper."""
        colon = ": " if self.spaced else ":"
        if not self.end:
            return json.dumps(value, ensure_ascii=False, separators=("," + colon[1:], colon))
        lines = json.dumps(value, ensure_ascii=False, indent=self.unit, separators=(",", colon)).split("\n")
        return self.line(depth).join(lines)


def spot(text: str, keys: Sequence[str]) -> Spot:
    """Where a value can be added to the array that keys lead to, one after the other; raises UnreadableError."""
    root = parse(text)
    if root is None:
        return _whole(text, keys)
    node, above = root, None
    for depth, key in enumerate(keys):
        _require(text, node, "{", keys[:depth])
        if (inner := node.get(key)) is None:
            return _spot(text, root, node, above, keys[depth:])
        node, above = inner, node
    _require(text, node, "[", keys)
    return _spot(text, root, node, above, ())


def put(text: str, place: Spot, given: Any) -> str:
    """The text with a value at a spot of it."""
    ours = place.before + place.form.written(given, place.depth) + place.after
    return text[: place.at] + ours + text[place.at :]


def swap(text: str, node: Node, given: Any) -> str:
    """The text with another value in place of one, laid out as that is."""
    root = parse(text)
    assert root is not None
    lines = "\n" in text[node.start : node.end] or "\r" in text[node.start : node.end]
    form = Form(_end(text) if lines else "", _unit(text, root), _indent(text, node.start), _spaced(text, root))
    return text[: node.start] + form.written(given, 0) + text[node.end :]


def drop(text: str, way: Sequence[tuple[Node, int]], keep: int) -> str:
    """The text without an item, given by the containers that lead to it and its place in each.

    What would be empty then goes with it, but for the first `keep` of the containers.
    """
    way = list(way)
    while len(way) > keep and len(way[-1][0].items) == 1:
        way.pop()
    if not way:
        return ""
    node, index = way[-1]
    if len(node.items) == 1:
        return text[: node.start + 1] + text[node.end - 1 :]
    if index:
        return text[: node.items[index - 1].end] + text[node.items[index].end :]
    return text[: node.starts[0]] + text[node.starts[1] :]


def _whole(text: str, keys: Sequence[str]) -> Spot:
    """Where a value goes in a blank text: it gets an object around it."""
    inner = spot("{}", keys)
    bom = len(BOM) if text.startswith(BOM) else 0
    end = _end(text)
    before, after = [words.replace("\n", end) for words in ("{" + inner.before, inner.after + "}")]
    after += "" if len(text) > bom else end
    return inner._replace(at=bom, before=before, after=after, made=inner.made + 1, form=inner.form._replace(end=end))


def _spot(text: str, root: Node, node: Node, above: Node | None, missing: Sequence[str]) -> Spot:
    """Where an item goes behind the last of a container, with the containers that are missing around it."""
    form = _form(text, root, node, above)
    before, after = "," if node.items else "", ""
    before += form.line(0) or (" " if node.items and form.spaced else "")
    for depth, key in enumerate(missing):
        last = depth == len(missing) - 1
        before += json.dumps(key) + (": " if form.spaced else ":") + ("[" if last else "{") + form.line(depth + 1)
        after = form.line(depth) + ("]" if last else "}") + after
    inside = text[node.start + 1 : node.end - 1]
    if form.end and not node.items and not END.search(inside):
        after += form.end + _indent(text, node.start)
    at = node.items[-1].end if node.items else node.start + 1
    return Spot(at, before, after, len(missing), form, len(missing))


def _form(text: str, root: Node, node: Node, above: Node | None) -> Form:
    """How an item of a container is laid out: as the last of it, or where it is empty as the container itself."""
    unit = _unit(text, root)
    form = Form(_end(text), unit, _indent(text, node.start) + unit, _spaced(text, root))
    if node.items:
        gap = _gap(text, node)
        return form._replace(indent=END.split(gap)[-1]) if END.search(gap) else form._replace(end="")
    return form._replace(end="") if above and not END.search(_gap(text, above)) else form


def _gap(text: str, node: Node) -> str:
    """What stands before the last item of a container."""
    if len(node.items) == 1:
        return text[node.start + 1 : node.starts[0]]
    return text[node.items[-2].end : node.starts[-1]].partition(",")[2]


def _unit(text: str, root: Node) -> str:
    """What the members of the whole are indented by, two blanks where that can't be told."""
    gap = text[root.start + 1 : root.starts[0]] if root.items else ""
    return (END.split(gap)[-1] if END.search(gap) else "") or "  "


def _spaced(text: str, root: Node) -> bool:
    """Whether a blank stands behind the first colon."""
    return not (root.keys and text[root.items[0].start - 1] == ":")


def _indent(text: str, at: int) -> str:
    """The white space that the line of a place begins with."""
    begin = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    found = _INDENT.match(text, begin)
    return found[0] if found else ""


def _end(text: str) -> str:
    """How the first line ends."""
    found = END.search(text)
    return found[0] if found else "\n"


def _require(text: str, node: Node, kind: str, keys: Sequence[str]) -> None:
    if node.kind != kind:
        what = "an object" if kind == "{" else "an array"
        raise wrong(text, node.start, f"{'.'.join(keys) or 'the whole'} is not {what}")
