"""Code blocks of steps that change files: their lines, in the forms in which a step can be written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from execplan.execution.annotations.info_string import parse_info_string
from execplan.execution.evaluation.projected_files import ProjectedChange, format_change

_DELETED = "The change that was tried deletes this file."
_LANGUAGES = {
    "py": "python",
    "js": "js",
    "ts": "ts",
    "tsx": "tsx",
    "go": "go",
    "rs": "rust",
    "rb": "ruby",
    "java": "java",
    "md": "markdown",
    "json": "json",
    "toml": "toml",
    "yml": "yaml",
    "yaml": "yaml",
    "html": "html",
    "css": "css",
}
"""Languages of code blocks by file extension; a block in the language of a shell would be read as commands."""
_CHANGE_ATTRIBUTES = ("type", "target", "lines", "from", "overwrite", "paths", "count", "regex")
"""Attributes that say what a step changes; the others say when and how it runs."""
PLAIN_PATH = re.compile(r"[\w./@+-]+")
"""A path that needs no quotes in an attribute, and has no wildcards."""


class Block(NamedTuple):
    """A code block with attributes."""

    lines: tuple[str, ...]
    type: str

    @property
    def key(self) -> tuple[frozenset[tuple[str, str]], tuple[str, ...]]:
        """What the step does, see `step_key`."""
        info = parse_info_string(self.lines[0].lstrip("`"))
        attributes = info.attributes if info is not None else ()
        return step_key({attribute.name: attribute.value for attribute in attributes}, self.lines[1:-1])


def step_key(attributes: dict[str, str], body: Sequence[str]) -> tuple[frozenset[tuple[str, str]], tuple[str, ...]]:
    """Return what a step does, by which an equal one is found: what it changes, and its content."""
    return frozenset([pair for pair in attributes.items() if pair[0] in _CHANGE_ATTRIBUTES]), tuple(body)


def possible_file_blocks(change: ProjectedChange, step_id: str, attributes: str) -> list[Block]:
    """Return the forms of a step that changes one file, the most readable first; none if it is no text."""
    target = f"target={_quote_path(change.path)}"
    if change.after is None:
        return [_build_block("text", step_id, "delete_file", f" {target}{attributes}", _DELETED)]
    try:
        text = change.after.decode()
        diff = format_change(change)
        diff.encode()
    except UnicodeError:
        return []
    patch = _build_block("diff", step_id, "refactor_code", attributes, diff)
    if change.before is not None:
        return [_build_block("diff", step_id, "modify_file", f" {target}{attributes}", diff), patch]
    language = _LANGUAGES.get(change.path.rpartition(".")[2], "text")
    return [_build_block(language, step_id, "create_file", f" {target}{attributes}", text), patch]


def transfer_block(kind: str, origin: str, target: str, step_id: str, attributes: str) -> Block:
    """Return a step that copies or moves a file or a directory."""
    paths = f" from={_quote_path(origin)} target={_quote_path(target)}"
    return _build_block("text", step_id, kind, f"{paths}{attributes}", "")


def replacement_block(paths: Sequence[str], old: str, new: str, count: int, step_id: str, attributes: str) -> Block:
    """Return a step that replaces a text in several files."""
    body = "".join([f"{mark}{line}\n" for mark, text in (("-", old), ("+", new)) for line in text.split("\n")])
    return _build_block("diff", step_id, "replace", f' paths="{" ".join(paths)}" count={count}{attributes}', body)


def _quote_path(path: str) -> str:
    return path if PLAIN_PATH.fullmatch(path) else f'"{path}"'


def _build_block(language: str, step_id: str, kind: str, attributes: str, body: str) -> Block:
    """Return a code block, with a fence that is longer than any in its content."""
    fences = re.findall(r"^ {0,3}(`{3,}|~{3,})", body, re.MULTILINE)
    mark = "`" * max([3, *[len(fence) + 1 for fence in fences]])
    lines = body.removesuffix("\n").split("\n") if body else []
    return Block((f"{mark}{language} {{#{step_id} type={kind}{attributes}}}", *lines, mark), kind)
