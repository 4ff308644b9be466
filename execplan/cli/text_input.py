"""Text input: from an argument, from a file (`@FILE`), from standard input (`-`), or from the user's editor."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import TypeVar

import click

from execplan.core.errors import ErrorContext, ExecplanError
from execplan.core.files import file_access
from execplan.core.plan import reader
from execplan.core.plan.plan_change import require_blocks, require_lines, require_text
from execplan.core.plan_store.hint_reader import NEW_TEXT

_Content = TypeVar("_Content")

MAX_TEXT_BYTES = 1 << 20
"""Maximum size of a text in bytes."""


def open_editor(path: str, *, instead: str) -> None:
    """Open a file in the user's editor; raises ExecplanError if it fails, or, with what to do instead, if there is none."""
    if not sys.stdin.isatty() and not (os.environ.get("VISUAL") or os.environ.get("EDITOR")):
        hint = f"set EDITOR, or {instead}"
        raise ExecplanError("no-editor", "no editor is set, and this is not a terminal", hint=hint)
    try:
        click.edit(filename=path)
    except click.ClickException as error:
        name, cause = error.format_message().partition(": Editing failed")[0], error.__cause__
        message = f"the editor {name} reported an error"
        if isinstance(cause, OSError):
            message = f"the editor {name} can't be started: {os.strerror(cause.errno or 0).lower()}"
        raise _editor_error(message) from None
    except ValueError:
        raise _editor_error("the command in VISUAL or EDITOR has a quote that is never closed") from None


def _editor_error(message: str) -> ExecplanError:
    return ExecplanError("no-editor", message, hint="set VISUAL or EDITOR to a working command")


def edit_text(text: str) -> str:
    """Return the text after the user has edited it; raises ExecplanError."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="execplan-") as directory:
        path = os.path.join(directory, "section.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        open_editor(path, instead="give the text in the command")
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()


def read_source(source: str) -> bytes:
    """Return the bytes of a file, or of standard input for `-`; raises ExecplanError."""
    if source == "-":
        if sys.stdin.isatty():
            print("execplan: type the text; end it with Ctrl-D on a line of its own", file=sys.stderr)
        data = sys.stdin.buffer.read(reader.MAX_BYTES + 1)
        size = len(data)
    else:
        data, size = file_access.read(source, reader.MAX_BYTES)
    if size > reader.MAX_BYTES:
        with ErrorContext(source_name(source)):
            raise reader.too_large_error(size)
    return data


def source_name(source: str) -> str:
    """Return the name of a text's source for messages."""
    return "standard input" if source == "-" else source


def read_text(argument: str, label: str) -> str:
    """Return text as one line, from the argument, `@FILE` or `-`; `@@` escapes a leading at sign."""
    return _read(argument, label, require_text)


def read_blocks(argument: str, label: str) -> str:
    """Return text of one or more markdown blocks, from the argument, `@FILE` or `-`; raises ExecplanError."""
    return _read(argument, label, require_blocks)


def read_lines(argument: str, label: str) -> list[str]:
    """Return the lines of the argument, `@FILE` or `-`, without surrounding blank lines; raises ExecplanError."""
    return _read(argument, label, require_lines)


def _read(argument: str, label: str, require: Callable[[str, str], _Content]) -> _Content:
    text, source = _resolve_text(argument, label)
    with ErrorContext(source_name(source)) if source else nullcontext():
        return require(text, label)


def _resolve_text(argument: str, label: str) -> tuple[str, str]:
    """Return the text and its source: a file, `-` for standard input, or an empty string for the argument."""
    if argument != "-" and (not argument.startswith("@") or argument.startswith("@@")):
        return argument[1:] if argument.startswith("@@") else argument, ""
    source = argument.removeprefix("@")
    try:
        data = read_source(source)
    except ExecplanError as error:
        error.hint += "" if source == "-" else f"; to start text with @, write @@: @@{source}"
        raise
    if len(data) > MAX_TEXT_BYTES:
        raise ExecplanError(
            "too-many-words", f"{label} has more than {MAX_TEXT_BYTES:,} bytes", hint="shorten the text"
        )
    if source == "-" and not data.strip():
        raise ExecplanError("no-words", f"standard input: {label} is empty", hint=_hint_to_write_text())
    with ErrorContext(source_name(source)):
        return reader.decode(data).to_str() if data.strip() else "", source


def _hint_to_write_text() -> str:
    """Return the hint after an empty standard input: the current command, with a text instead of each `-`."""
    import shlex

    typed = click.get_current_context().meta["execplan.typed_command"]
    command = shlex.join([NEW_TEXT if argument == "-" else argument for argument in typed])
    return f"pipe the text into the command, or write it instead of -: {command}"
