"""In which folder a command is to be typed, as far as the words of a plan say it."""

from __future__ import annotations

import re

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from execplan.plan.model import Plan

ROOT = "."
_ROOT = (
    r"(?:repo(?:sitory)?|project|workspace|worktree|checkout|monorepo|solution)(?:'s|’s)?[- ](?:top[- ]level|root)\b|"
    r"\broot (?:directory |folder )?of (?:the |this |your )?(?:\w+ )?(?:repo(?:sitory)?|project|checkout|worktree|workspace|working tree)|"
    r"top[- ]level (?:directory |folder )?of (?:the |this )?(?:repo(?:sitory)?|project|checkout)|\b(?:from|in|at) the root(?: directory| folder)?\b(?! of)|"
    r"仓库根|项目根|根目录|저장소 루트|레포 루트|リポジトリの?ルート|"
    r"\b(?:in|inside|within|from) (?:the|this) (?:repo(?:sitory)?|checkout|worktree|working tree)\b(?! (?:directory|folder|that|of|named|called))"
)
_IS_ROOT = re.compile(_ROOT, re.IGNORECASE)
_PATH = r"(?:~?/|[A-Za-z]:\\{1,2}|\.\.\./)[^\s`'\"()<>,;|*]*[^\s`'\"()<>,;|*.:]"
_CALLED = re.compile(rf"(?:{_ROOT})(?:,? (?:at|is|which is|being))?[\s:,(]*`?({_PATH})`?", re.IGNORECASE)
_STATED = re.compile(
    rf"(?:\b(?:from|in|into|cd|directory|folder|workdir|cwd)(?: for (?:all|every|these) commands?)?(?: is)?:?\s+(?:the )?|^\s*cd\s+)`?({_PATH})`?",
    re.IGNORECASE,
)
_ANY_PATH = re.compile(rf"(?<![\w./:])({_PATH})")
_NEVER = tuple([f"/{each}" for each in "tmp var etc usr dev proc private opt bin api v1".split()])
"""No repository lies there, or these are addresses."""
_SPOKEN = r"`([^`\s]+)`"
_RUNS = r"\b(?:re-?)?(?:run|runs|running|execute[ds]?|works?|working|commands?|invoke|cd|cwd|workdir|start|begin)\b"
_FROM = re.compile(rf"\bfrom (?:within |inside )?(?:the )?{_SPOKEN}(?: (\w+))?", re.IGNORECASE)
_AT_START = re.compile(
    rf"^(?:\W*\d+[.)]\s*)?[\W_]*(?:then |next,? |finally,? |now )?(?:in|inside|within|under|at) (?:the )?{_SPOKEN}(?: (?:directory|folder|package|crate|app|workspace))?\s*(?:$|[:,(])",
    re.IGNORECASE,
)
_NAMED = re.compile(
    rf"\b(?:working directory|workdir|cwd|work (?:in|from)|(?:cd|change|go|switch) (?:in)?to|(?:commands?|them|these|everything) (?:are |is )?(?:to be |should be |must be )?(?:run |executed )?(?:in|inside|within))(?: for (?:all|every|these)[^:`]*)?(?: is)?:?\s*(?:the )?{_SPOKEN}",
    re.IGNORECASE,
)
_CD = re.compile(r"`cd ([^`&;|]+)`")
_IN = re.compile(rf"\b(?:in|inside|within|under) (?:the )?{_SPOKEN}", re.IGNORECASE)
_OTHER_TONGUES = re.compile(rf"(?:[在从進进入へ于于]|\b(?:im|aus|dans|depuis|en|desde|nella)\b) ?(?:\w+ )?{_SPOKEN}")
_UNCLEAR = re.compile(
    r"\b(?:from|in|inside|within|under|into|on|against)\s+(?:(?:the|a|an|your|its|each|that|another|any|some|both|every|one|two|separate|fresh|clean|new|second|temporary|isolated|dedicated|sibling|upstream|external|target|remote)\b[\s-]*)+"
    r"[^.:;,]{0,40}?\b(?:director(?:y|ies)|folders?|worktrees?|checkouts?|packages?|crates?|subprojects?|modules?|submodules?|repos?|repositor(?:y|ies)|clones?|containers?|vm|shells?|terminals?|sessions?|windows?|hosts?|servers?|machines?|devices?|sandbox|browser|console|pod|cluster|emulator|simulator)\b",
    re.IGNORECASE,
)
_LASTING = re.compile(r"\b(?:all|every|commands|working directory|work (?:from|in)|workdir|cwd)\b", re.IGNORECASE)
_BRANCH = re.compile(
    r"^(?:origin|upstream|feature|feat|codex|fix|release|refs|heads|remotes)/|^(?:main|master|develop|dev|trunk)$|^@"
)


class Told(NamedTuple):
    """A folder that words name."""

    folder: str | None
    """From the root of the repository; None for one that these words do not make out."""
    lasting: bool = False
    """Whether it holds for what follows too."""


class Folders:
    """What a plan calls its own root, and how a folder is counted from there."""

    def __init__(self, plan: Plan) -> None:
        self.roots = _roots(plan.text.lines)

    def resolved(self, path: str, here: str | None = ROOT) -> str | None:
        """A folder from the root of the repository, or None for one outside, or that only a shell knows."""
        path = path.strip().strip("\"'").replace("\\\\", "\\")
        if path.startswith(("/", "~", "...")) or path[1:3] == ":\\":
            bare = path.replace("\\", "/").rstrip("/")
            for root in self.roots:
                if bare == root or bare.startswith(f"{root}/"):
                    return bare[len(root) + 1 :] or ROOT
            return None
        if here is None or not path or path[0] == "-" or not re.fullmatch(r"[\w@.+/ -]+", path):
            return None
        parts: list[str] = []
        for part in f"{here}/{path}".split("/"):
            if part == "..":
                if not parts:
                    return None
                parts.pop()
            elif part not in ("", "."):
                parts.append(part)
        return "/".join(parts) or ROOT

    def told(self, words: str) -> Told | None:
        """The folder that a sentence tells to be in, or None when it tells of none."""
        lasting = bool(_LASTING.search(words))
        if found := _IS_ROOT.search(words):
            inner = re.match(rf"\W*of (?:the )?{_SPOKEN}", words[found.end() :])
            return Told(self.resolved(inner.group(1)) if inner else ROOT, lasting=True)
        for found in (_NAMED.search(words), _AT_START.search(words), _CD.search(words)):
            if found and _is_folder(found.group(1)):
                return Told(self.resolved(found.group(1)), lasting)
        if found := _FROM.search(words):
            path, kind = found.group(1), (found.group(2) or "").lower()
            folder = kind in ("directory", "folder", "package", "crate", "workspace", "app")
            if not _BRANCH.search(path) and (folder or "/" in path or path[1:3] == ":\\") and _is_folder(path):
                runs = re.search(
                    _RUNS + r"|^\W*(?:\d+[.)]\W*)?(?:(?:then|next|now|finally|and),? )*from\b", words, re.IGNORECASE
                )
                return Told(self.resolved(path) if runs else None, lasting)
        if (
            (found := _STATED.search(words))
            and not found.group(1).startswith(_NEVER)
            and re.search(_RUNS, words, re.IGNORECASE)
        ):
            return Told(self.resolved(found.group(1)), lasting)
        if _UNCLEAR.search(words):
            return Told(None)
        for found in (_IN.search(words), _OTHER_TONGUES.search(words)):
            if found and "/" in found.group(1) and _is_folder(found.group(1)):
                return Told(None)
        return None


def _is_folder(path: str) -> bool:
    """Whether a path can be a folder's: no file's ending, nothing of a pattern or an address."""
    last = path.rstrip("/\\").replace("\\", "/").rpartition("/")[2]
    dotted = "." in last.lstrip(".") and not path.endswith("/") and last[-1:] != "."
    odd = any([char in path for char in "*{}<>$=?#&|;,()"]) or "://" in path or path.startswith(("@", "-", "--"))
    absolute = path.startswith(("/", "~", "...")) or path[1:3] == ":\\"
    return not odd and (not dotted or absolute)


def _roots(lines: Iterable[str]) -> tuple[str, ...]:
    """The absolute folders that a plan means by the root of its repository.

    What it calls so, else the one folder to work in that all others it names lie in, if nothing shows that it is a part only.
    """
    text = "\n".join(lines)
    called = {_bare(found.group(1)) for found in _CALLED.finditer(text)} - {""}
    if called:
        return tuple(sorted(called, key=lambda each: (-len(each), each)))
    told = [
        found
        for line in lines
        if re.search(_RUNS + r"|^\W*(?:\d+[.)]\W*)?from\b", line, re.IGNORECASE)
        for found in _STATED.finditer(line)
    ]
    stated = {_bare(found.group(1)) for found in told} - {""}
    stated = {
        each
        for each in stated
        if each.count("/") > 1
        or re.search(rf"(?:commands.* from|run from|work from|directory|\bcd) `?{re.escape(each)}", text, re.IGNORECASE)
    }
    tops = [each for each in stated if all([other == each or other.startswith(f"{each}/") for other in stated])]
    if not tops:
        return ()
    top = tops[0]
    above, _, name = top.rpartition("/")
    beside = [found.group(1).rstrip("/") for found in _ANY_PATH.finditer(text)]
    is_part = bool(above.strip("/~")) and any(
        [f"{each}/".startswith(f"{above}/") and not f"{each}/".startswith(f"{top}/") for each in beside]
    )
    within = re.search(rf"(?<![\w./-]){re.escape(name)}/\w", text) is not None
    return () if is_part or within else (top,)


def _bare(path: str) -> str:
    """An absolute path with slashes, and none at its end."""
    bare = path.replace("\\\\", "\\").replace("\\", "/").rstrip("/.")
    odd = (
        "." in bare.rpartition("/")[2]
        or "path/to" in bare
        or f"{bare}/".startswith(tuple([f"{each}/" for each in _NEVER]))
    )
    return "" if odd else bare
