"""Text input: from an argument, from a file (`@FILE`) or from standard input (`-`)."""

from __future__ import annotations

import sys
from contextlib import nullcontext

from execplan.core.errors import USAGE, ErrorContext, ExecplanError
from execplan.core.files import file_access
from execplan.core.plan import reader
from execplan.core.plan.plan_change import require_blocks, require_lines, require_text
from execplan.core.plan_store.hint_reader import NEW_TEXT

MAX_TEXT_BYTES = 1 << 20
"""Maximum size of a text in bytes."""


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
    text, source = _resolve_text(argument, label)
    with ErrorContext(source_name(source)) if source else nullcontext():
        return require_text(text, label)


def read_blocks(argument: str, label: str) -> str:
    """Return text of one or more markdown blocks, from the argument, `@FILE` or `-`; raises ExecplanError."""
    text, source = _resolve_text(argument, label)
    with ErrorContext(source_name(source)) if source else nullcontext():
        return require_blocks(text, label)


def read_lines(argument: str, label: str) -> list[str]:
    """Return the lines of the argument, `@FILE` or `-`, without surrounding blank lines; raises ExecplanError."""
    text, source = _resolve_text(argument, label)
    with ErrorContext(source_name(source)) if source else nullcontext():
        return require_lines(text, label)


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
            "too-many-words", f"{label} has more than {MAX_TEXT_BYTES:,} bytes", exit=USAGE, hint="shorten the text"
        )
    if source == "-" and not data.strip():
        raise ExecplanError("no-words", f"standard input: {label} is empty", exit=USAGE, hint=_hint_to_write_text())
    with ErrorContext(source_name(source)):
        return reader.decode(data).to_str() if data.strip() else "", source


def _hint_to_write_text() -> str:
    """Return the hint after an empty standard input: the current command, with a text instead of each `-`."""
    import shlex

    import click

    typed = click.get_current_context().meta["execplan.typed_command"]
    command = shlex.join([NEW_TEXT if argument == "-" else argument for argument in typed])
    return f"pipe the text into the command, or write it instead of -: {command}"
