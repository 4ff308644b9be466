"""Shared output of commands that move a plan: the result and the moved paths."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from execplan.cli.answer import NOTHING_TO_COMMIT, Answer
from execplan.cli.output.bulk_output import commit_commands
from execplan.cli.output.terminal_text import printable_lines

if TYPE_CHECKING:
    from execplan.core.archive.plan_move import MoveResult
    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.core.project.project import Project


def move_answer(
    project: Project, moved: MoveResult, options: WriteOptions, unchanged_text: str, rewrite: str | None = ""
) -> Answer:
    """Build the answer of a command that moves a plan; `unchanged_text` is printed if nothing was moved.

    `rewrite` is the command that rewrites documents with old paths; with None, such documents are not reported.
    """
    from execplan.core.archive import document_mentions

    warnings = moved.warnings
    if rewrite is not None:
        warnings += document_mentions.mention_warnings(moved.mentions, rewrite)
    data: dict[str, Any] = {
        "path": moved.path,
        "changed": moved.changed,
        "digest": moved.digest,
        "commit": moved.commit,
        "moves": [{"from": old, "to": new} for old, new in moved.moves],
        "followed": list(moved.followed),
        "evidence": moved.evidence,
        "attestation": moved.attestation,
        "rewritten": list(moved.rewritten),
        "mentions": [{"path": mention.path, "lines": list(mention.lines)} for mention in moved.mentions],
    }
    if options.dry_run:
        data["diff"] = moved.diff
    if not moved.changed:
        return Answer(data, printable_lines([f"{unchanged_text}: {moved.path}"]), warnings=warnings, is_requested=False)
    lines = [] if options.dry_run else list(moved.messages)
    move, rewrite_paths, write = (
        ("would move", "would rewrite paths in", "would write")
        if options.dry_run
        else ("moved", "rewrote paths in", "wrote")
    )
    lines += [f"{move} {old} to {new}" for old, new in moved.moves]
    lines += [f"{rewrite_paths} {path}" for path in moved.followed]
    by_user = "" if options.dry_run or moved.commit or project.git is None else "; to commit that, use git"
    lines += [f"{rewrite_paths} {path}{by_user}" for path in moved.rewritten]
    lines += [f"{write} {path}" for path in (moved.evidence, moved.attestation) if path]
    if moved.commit:
        lines.append(f"committed {moved.commit[:12]}")
    elif options.commit and not options.dry_run:
        lines.append(NOTHING_TO_COMMIT)
    files = [(project, os.path.join(project.root, path)) for path in (moved.path, *moved.followed)]
    next_commands = () if options.dry_run or moved.commit else commit_commands(files)
    text = printable_lines(lines, moved.diff)
    return Answer(data, text, warnings=warnings, next_commands=next_commands, is_requested=options.dry_run)
