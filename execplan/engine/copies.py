"""The copy of a run's evidence in the state: a step that removes or alters the files of the repository does not reach it."""

from __future__ import annotations

import os

from execplan.engine.journal import Journal
from execplan.engine.place import JOURNAL, LIMIT
from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.text import disk, files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.engine.place import RunPaths

TRANSCRIPTS: Final = "transcripts"
PLAN: Final = "plan.md"
"""The text of the plan, as it was before the last step in which a program ran; only in the copy."""
_PAPERS: Final = ("execution-plan", "approval")


def is_paper(name: str) -> bool:
    """Whether a file of a run's folder says what is run, or who has let it run."""
    return name.endswith(".json") and name.startswith(_PAPERS)


def keep(place: RunPaths) -> None:
    """Copy what is among the artifacts of the run and not in the state; raises ExecplanError."""
    files.make_folder(place.copy)
    journal = place.journal
    if journal != place.copied(JOURNAL) and os.path.lexists(journal):
        data = disk.read(journal, LIMIT)[0]
        files.put(place.copied(JOURNAL), data[: data.rfind(b"\n") + 1])
    for name in _names(place.folder):
        if is_paper(name) and not os.path.lexists(place.copied(name)):
            files.create(place.copied(name), disk.read(place.shown(name), LIMIT)[0])


def journal_of(place: RunPaths) -> Journal:
    """The journal of a run, open for writing in the state, and among the artifacts; raises ExecplanError."""
    keep(place)
    return Journal(place.copied(JOURNAL), place.shown(JOURNAL), place.root or None)


def keep_transcript(place: RunPaths, path: str) -> None:
    """Let a transcript that is being written have a second name in the state, where the file system can."""
    try:
        os.makedirs(place.copied(TRANSCRIPTS), exist_ok=True)
        other = os.path.join(place.copied(TRANSCRIPTS), os.path.basename(path))
        if os.path.lexists(other):
            os.unlink(other)
        os.link(path, other)
    except OSError:
        return  # of another file system: then it is only where everybody sees it


def altered(place: RunPaths) -> list[str]:
    """What of the copy, the journal aside, is gone or other among the artifacts; names from the run's folder."""
    found = [name for name in papers(place) if differs(place, name)]
    printed = [os.path.join(TRANSCRIPTS, name) for name in _names(place.copied(TRANSCRIPTS))]
    return found + [name for name in printed if not os.path.lexists(place.shown(name))]


def stop_altered(place: RunPaths) -> None:
    """Refuse where the artifacts have not the journal and the execution plans that the state has; raises ExecplanError."""
    for name in [JOURNAL, *papers(place)]:
        if os.path.lexists(place.copied(name)) and differs(place, name):
            raise ExecplanError(
                "journal-altered",
                f"{place.shown(name)} is missing or was changed: its copy is different",
                exit=ENVIRONMENT,
                hint="a person looks at it, and restores it from its copy: execplan doctor --fix",
            )


def papers(place: RunPaths) -> list[str]:
    """What the copy has of what is run, and of who has let it run."""
    return [name for name in _names(place.copy) if is_paper(name)]


def differs(place: RunPaths, name: str) -> bool:
    """Whether a file among the artifacts is not as its copy; a longer journal that goes on behind it is the better one."""
    own, shown = place.copied(name), place.shown(name)
    if name == JOURNAL and place.journal != own:
        return False
    if not os.path.lexists(shown):
        return True
    try:
        left, right = (disk.read(path, LIMIT)[0] for path in (own, shown))
        if name == JOURNAL:  # less than a line was left by a killed writer
            left, right = (data[: data.rfind(b"\n") + 1] for data in (left, right))
        return left != right
    except ExecplanError:
        return True


def show(place: RunPaths, name: str) -> bytes:
    """Let a file among the artifacts be as its copy; what was displaced, if anything. Raises ExecplanError."""
    path, data = place.shown(name), disk.read(place.copied(name), LIMIT)[0]
    old = disk.read(path, LIMIT)[0] if os.path.isfile(path) else b""
    files.put(path, data, within=place.root or None)
    return b"" if data.startswith(old) else old


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
