"""Editing files and text in the user's editor."""

from __future__ import annotations

import os
import sys

import click

from execplan.core.errors import ENVIRONMENT, ExecplanError


def open_editor(path: str) -> None:
    """Open a file in the user's editor; raises ExecplanError if there is no editor or if it fails."""
    if not sys.stdin.isatty() and not (os.environ.get("VISUAL") or os.environ.get("EDITOR")):
        raise ExecplanError(
            "no-editor",
            "no editor is set, and this is not a terminal",
            exit=ENVIRONMENT,
            hint="set EDITOR, or write a section from standard input: execplan set SECTION -",
        )
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
    return ExecplanError("no-editor", message, exit=ENVIRONMENT, hint="set VISUAL or EDITOR to a working command")


def edit_text(text: str) -> str:
    """Return the text after the user has edited it; raises ExecplanError."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="execplan-") as directory:
        path = os.path.join(directory, "section.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        open_editor(path)
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
