"""What the verbs that move a plan share: say what was moved, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer, typed

if TYPE_CHECKING:
    from execplan.repo.amend import Options
    from execplan.repo.home import Home
    from execplan.repo.moving.move import Moved


def finish(home: Home) -> None:
    """Finish a move that was cut short, before anything else is done in a home."""
    from execplan.repo.moving.settle import settle_quietly

    settle_quietly(home)


def told(home: Home, moved: Moved, options: Options, already: str) -> Answer:
    """The answer of a verb that moves a plan; `already` is what is said when there was nothing to move."""
    data: dict[str, Any] = {
        "path": moved.path,
        "changed": moved.changed,
        "digest": moved.digest,
        "commit": moved.commit,
        "moves": [{"from": old, "to": new} for old, new in moved.moves],
        "followed": list(moved.followed),
        "evidence": moved.evidence,
    }
    if options.dry_run:
        data["diff"] = moved.diff
    if not moved.changed:
        return Answer(data, f"{already}: {moved.path}", wanted=False)
    would = "would be " if options.dry_run else ""
    lines = [*([moved.diff] if moved.diff else []), *([] if options.dry_run else moved.said)]
    lines += [f"{would}moved: {old} to {new}" for old, new in moved.moves]
    lines += [f"paths {would}rewritten: {path}" for path in moved.followed]
    lines += [f"evidence {would}written: {moved.evidence}"] if moved.evidence else []
    if moved.commit:
        lines.append(f"committed {moved.commit[:12]}")
    settled = options.dry_run or moved.commit or home.git is None
    follow = () if settled else tuple([f"execplan commit {typed(path)}" for path in (moved.path, *moved.followed)])
    return Answer(data, "\n".join(lines), warnings=moved.warnings, next=follow, wanted=options.dry_run)
