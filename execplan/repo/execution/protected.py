"""Which paths of a repository are git's or the tool's own: nobody may approve a step that writes there."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.repo.home import Project

_OWN = {"/.agent/execplan.toml/": "the settings of execplan", "/.agent/.state/": "what execplan keeps for itself"}
"""Of every home, whichever the plan lies in; with git the state lies in `.git`."""
_EVIDENCE = frozenset(("execution-plan.json", "approvals", "ledger.jsonl", "runs", "enhanced.json"))


def protected(home: Project, path: str) -> str:
    """What of git's or the tool's own a path from the root is, whatever its case; nothing for any other."""
    return judge(home)(path)


def judge(home: Project) -> Callable[[str], str]:
    """What says that of many paths of a home."""
    folders = [home.artifacts_dir("", archived=archived) for archived in (False, True)]
    kept = [os.path.relpath(each, home.root).casefold() for each in folders]
    linked = [f"{os.path.relpath(each, os.path.realpath(home.root)).casefold()}/" for each in _linked(home)]

    def judged(path: str) -> str:
        folded = path.casefold()
        if ".git" in folded.split("/"):
            return "git's own"
        own = next((what for part, what in _OWN.items() if part in f"/{folded}/"), "")
        evidence = any([_is_evidence(folded, at) for at in kept]) or any(
            [folded.startswith(at) and folded[len(at) :].partition("/")[0] in _EVIDENCE for at in linked]
        )
        return own or ("what execplan keeps of the execution" if evidence else "")

    return judged


def _is_evidence(path: str, folder: str) -> bool:
    """Whether a path is what is kept of the execution of a plan whose artifacts lie in a folder of these.

    What is filed by year and month lies deeper than what is not.
    """
    above, _, dated = folder.partition("/{")
    parts = path.removeprefix(f"{above}/").split("/")
    within = f"{path}/".startswith(f"{above}/")
    return within and not _EVIDENCE.isdisjoint(parts[1:] if dated else parts[1:2])


def _linked(home: Project) -> list[str]:
    """Where in the repository the artifacts of plans really lie, of those that a link leads to."""
    found, root = set(), os.path.realpath(home.root)
    for archived in (False, True):
        above = home.artifacts_dir("", archived=archived).rstrip("/").partition("/{")[0]
        real = os.path.realpath(above)
        try:
            with os.scandir(real) as entries:
                inner = [each.path for each in entries if real != os.path.normpath(above) or each.is_symlink()]
        except OSError:
            continue
        found |= {os.path.realpath(each) for each in inner if os.path.isdir(each)}
    return sorted([each for each in found if each.startswith(f"{root}/")])


def kept(home: Project) -> list[str]:
    """What is there of the tool's own in the repository, besides the plans: absolute paths, links left out."""
    found = [os.path.join(home.base, name.strip("/")) for name in _OWN]
    for archived in (False, True):
        above, _, dated = home.artifacts_dir("", archived=archived).rstrip("/").partition("/{")
        for folder, folders, files in os.walk(above):
            top = folder == above
            names = _EVIDENCE.intersection([*folders, *files]) if dated or not top else set()
            found += [os.path.join(folder, name) for name in sorted(names)]
            folders[:] = [name for name in folders if name not in names] if dated or top else []
    found += [os.path.join(folder, name) for folder in _linked(home) for name in sorted(_EVIDENCE)]
    return [path for path in dict.fromkeys(found) if os.path.lexists(path) and not os.path.islink(path)]
