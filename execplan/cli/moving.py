"""What the verbs that move a plan share: say what was moved, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer, typed
from execplan.cli.printing import one_per_line

if TYPE_CHECKING:
    from execplan.repo.amend import Options
    from execplan.repo.home import Home
    from execplan.repo.moving.move import Moved


def finish(home: Home) -> None:
    """Finish a move that was cut short, before anything else is done in a home."""
    from execplan.repo.moving.settle import settle_quietly

    settle_quietly(home)


def told(home: Home, moved: Moved, options: Options, already: str, rewrite: str | None = "") -> Answer:
    """The answer of a command that moves a plan; `already` is printed when there was nothing to move.

    `rewrite`: the command that rewrites the documents which name the old paths; None where nobody wants to know.
    """
    from execplan.repo.moving import documents

    warnings = moved.warnings
    if rewrite is not None:
        warnings += documents.warning(moved.mentions, rewrite)
    data: dict[str, Any] = {
        "path": moved.path,
        "changed": moved.changed,
        "digest": moved.digest,
        "commit": moved.commit,
        "moves": [{"from": old, "to": new} for old, new in moved.moves],
        "followed": list(moved.followed),
        "evidence": moved.evidence,
        "rewritten": list(moved.rewritten),
        "mentions": [{"path": each.path, "lines": list(each.lines)} for each in moved.mentions],
    }
    if options.dry_run:
        data["diff"] = moved.diff
    if not moved.changed:
        return Answer(data, one_per_line([f"{already}: {moved.path}"]), warnings=warnings, wanted=False)
    would = "would be " if options.dry_run else ""
    lines = [] if options.dry_run else list(moved.said)
    lines += [f"{would}moved: {old} to {new}" for old, new in moved.moves]
    lines += [f"paths {would}rewritten: {path}" for path in (*moved.followed, *moved.rewritten)]
    lines += [f"evidence {would}written: {moved.evidence}"] if moved.evidence else []
    if moved.commit:
        lines.append(f"committed {moved.commit[:12]}")
    settled = options.dry_run or moved.commit or home.git is None
    follow = () if settled else tuple([f"execplan commit {typed(path)}" for path in (moved.path, *moved.followed)])
    text = one_per_line(lines, moved.diff)
    return Answer(data, text, warnings=warnings, next=follow, wanted=options.dry_run)
