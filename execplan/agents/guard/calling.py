"""What an agent may call of execplan itself: verbs that read, report or keep a plan true, with options that do no more."""

from __future__ import annotations

from execplan.agents.guard import places
from execplan.agents.guard.verbs import EVERYWHERE, KEPT, VERBS
from execplan.agents.guard.words import apart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

    from execplan.agents.guard.planned import Around
    from execplan.agents.guard.verbs import Mine

NAME: Final = "execplan"


def beyond(argv: Sequence[str], around: Around, folders: Sequence[str]) -> str:
    """Why a call of execplan is more than an agent may do; nothing for one that reads, reports or keeps the plan true."""
    if argv[0] != NAME:
        return f"{short(argv[0])} is not {NAME}"
    words = list(argv[1:])
    while words and (words[0] in EVERYWHERE or words[0] == "-C"):
        taken = 2 if words[0] == "-C" else 1
        if taken == 2 and not _all_inside(words[1:2] or [""], around, folders):
            return f"{NAME} -C leads out of the repository"
        words = words[taken:]
    if not words:
        return ""
    verb, rest = words[0], words[1:]
    if verb not in VERBS:
        why = KEPT.get(verb, "it is none of the verbs that an agent may use")
        return f"`{NAME} {short(verb)}` is not for an agent: {why}"
    mine = VERBS[verb]
    return _given(verb, mine, rest, around, folders)


def _given(verb: str, mine: Mine, argv: Sequence[str], around: Around, folders: Sequence[str]) -> str:
    """Why a verb is given more than an agent may give it."""
    values = [*mine.values.split(), *mine.files.split(), "-C"]
    found = apart([each for each in argv if not each.startswith("- ")], [*mine.flags.split(), *EVERYWHERE], values)
    if found is None or (mine.needs and mine.needs not in found.flags):
        only = f" but with {mine.needs}" if mine.needs else " with these options"
        return f"`{NAME} {verb}` is not for an agent{only}"
    read = [value for flag, value in found.values if flag in mine.files.split() or flag == "-C"]
    read += [value for flag, value in found.values if flag in ("-p", "--plan", "--stdin-filename")]
    read += found.words if mine.takes else ()
    texts = [*found.words, *[value for _, value in found.values]]
    read += [each[1:] for each in texts if each.startswith("@") and not each.startswith("@@")]
    return "" if _all_inside(read, around, folders) else f"`{NAME} {verb}` is given a file that an agent may not read"


def _all_inside(named: Sequence[str], around: Around, folders: Sequence[str]) -> bool:
    """Whether all paths lead into the repository, to nothing that is never read; `-` is standard input."""
    found = [way for path in named if path != "-" for folder in folders for way in places.ways(folder, path)]
    return all([path and places.inside(around.root, path) and not places.never_read(around, path) for path in found])


def short(text: str) -> str:
    """A text as a reason shows it."""
    return text if len(text) <= 80 else f"{text[:60]}…"
