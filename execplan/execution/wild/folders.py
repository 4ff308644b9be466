"""In which folder a command is to be typed, as far as the words of a plan say it."""

from __future__ import annotations

import re

from execplan.execution.wild.roots import IS_ROOT, NEVER, RUNS, STATED, roots
from execplan.record import NamedTuple
from execplan.text.relative import joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import Pattern

    from execplan.plan.model import Plan

ROOT = "."
_SPOKEN = r"`([^`\s]+)`"
_FROM = re.compile(rf"\bfrom (?:within |inside )?(?:the )?{_SPOKEN}(?: (\w+))?", re.IGNORECASE)
_AT_START = re.compile(
    rf"^(?:\W*\d+[.)]\s*)?[\W_]*(?:then,? |next,? |finally,? |now,? |still |also |and )?(?:in|inside|within|under|at) (?:the )?{_SPOKEN}(?: (?:directory|folder|package|crate|app|workspace))?\s*(?:$|[:,(]|(?:re-?)?run\b|execute\b)",
    re.IGNORECASE,
)
_NAMED = re.compile(
    rf"\b(?:working directory|workdir|cwd|work (?:in|from)|(?:cd|change|go|switch) (?:in)?to|(?:run|execute) (?:the following|these|this|them|everything)(?: \w+)? (?:in|inside|within|from)|(?:commands?|them|these|everything|steps(?: below)?) (?:are |is )?(?:to be |should be |must be )?(?:run |executed )?(?:in|inside|within))(?: for (?:all|every|these)[^:`]*)?(?: is)?:?\s*(?:the )?{_SPOKEN}",
    re.IGNORECASE,
)
_CD = re.compile(r"`cd ([^`&;|]+)`")
_IN = re.compile(rf"\b(?:in|inside|within|under) (?:the )?{_SPOKEN}", re.IGNORECASE)
_AT_END = re.compile(
    rf"[,(] ?(?:run )?(?:in|inside|within|from) (?:the )?{_SPOKEN}(?: (?:directory|folder|package|crate|app|workspace))?\)?:\s*$"
)
_NOT_THERE = re.compile(rf",? (?:and |but )?not (?:from|in|inside|within) (?:the )?{_SPOKEN}", re.IGNORECASE)
_RELATIVE = re.compile(rf"\brelative to (?:the )?{_SPOKEN}", re.IGNORECASE)
_FRESH = re.compile(
    r"\b(?:in|of|from) an? (?:\w+ )?(?:fresh|clean|new|second|separate|different) (?:\w+ )?(?:clone|checkout|worktree|copy)\b",
    re.IGNORECASE,
)
"""Not the tree that the plan lies in."""
_OTHER_TONGUES = re.compile(rf"(?:[在从進进入へ于于]|\b(?:im|aus|dans|depuis|en|desde|nella)\b) ?(?:\w+ )?{_SPOKEN}")
_FOLDER_WORD = (
    r"(?:(?:le |the )?(?:Ordner|Verzeichnis|dossier|répertoire)|(?:la )?(?:carpeta|cartella|pasta)|(?:el )?directorio)"
)
_FOREIGN = re.compile(
    rf"{_SPOKEN} ?(?:디렉터리|디렉토리|폴더)(?: 안)?(?:에서|로 이동)|{_SPOKEN} ?(?:ディレクトリ|フォルダー?)(?:内|の中)?(?:で|に移動|へ移動)|"
    rf"^(?:\W*\d+[.)]\s*)?[\W_]*(?:`([^`\s]*/[^`\s]*)` ?(?:内|の中)?で|{_SPOKEN} ?에서)|(?:在|进入|切换到) ?{_SPOKEN} ?(?:目录|文件夹|下|中|里|内)|"
    rf"\b(?:im|in|aus|dans|depuis|en|desde|nella|na) {_FOLDER_WORD} {_SPOKEN}|"
    rf"^(?:\W*\d+[.)]\s*)?[\W_]*(?:im|aus|dans|depuis|en|desde|nella) {_SPOKEN}\s*(?:$|[:,(：])",
    re.IGNORECASE,
)
"""A folder told in another language than English."""
_START = r"^(?:\W*\d+[.)]\s*)?[\W_]*(?:(?:then|next|finally|now|still|also),? )?"
_FROM_START = re.compile(
    rf"{_START}from (?:within |inside )?(?:the )?{_SPOKEN}\s*(?:$|[:,(]|(?:re-?)?run\b|execute\b)", re.IGNORECASE
)
_PLAIN_START = re.compile(
    rf"{_START}(?:from|in|inside|within) (?:the )?([\w@.-]+/[\w@./-]*)(?: (?:directory|folder|package|crate|app|workspace))?\s*(?:$|[:,(]|(?:re-?)?run\b|execute\b)",
    re.IGNORECASE,
)
_LIES = re.compile(
    rf"\b(?:lives?|sits?|resides?|located) (?:in|under|at) (?:the )?{_SPOKEN}|{_START}the {_SPOKEN} (?:directory|folder|package|crate|app|service)\b.*:\s*$|"
    r"^`?([\w@.-]+(?:/[\w@.-]+)*/)`?:?$|^`([\w@.-]+(?:/[\w@.-]+)+)`:$|\(`([\w@.-]+/|[\w@.-]+(?:/[\w@.-]+)+/?)`\):?$",
    re.IGNORECASE,
)
"""Where something lies that the commands behind may be about."""
_STATED_PLAIN = re.compile(
    r"\b(?:working directory|workdir|cwd)(?: is)?\s*[:=]\s*([\w@][\w@.-]*(?:/[\w@.-]*)*)", re.IGNORECASE
)
_UNCLEAR = re.compile(
    r"\b(?:for|in|from) (?:each|both|every)\b[^.;]*?(?:`[^`\s]+`|\b(?:packages?|crates?|services?|apps?|modules?|workspaces?|director(?:y|ies)|folders?)\b)|"
    r"\b(?:from|in|inside|within|under|into|on|against)\s+(?:(?:the|a|an|your|its|each|that|another|any|some|both|every|one|two|separate|fresh|clean|new|second|temporary|isolated|dedicated|sibling|upstream|external|target|remote)\b[\s-]*)+"
    r"[^.:;,]{0,40}?\b(?:director(?:y|ies)|folders?|worktrees?|checkouts?|packages?|crates?|subprojects?|modules?|submodules?|repos?|repositor(?:y|ies)|clones?|containers?|vm|shells?|terminals?|sessions?|windows?|hosts?|servers?|machines?|devices?|sandbox|browser|console|pod|cluster|emulator|simulator)\b",
    re.IGNORECASE,
)
_LASTING = re.compile(r"\b(?:all|every|commands|working directory|work (?:from|in)|workdir|cwd)\b", re.IGNORECASE)
_ALWAYS = re.compile(
    r"\b(?:all|every) (?:of the |the |these |following )?(?:shell )?(?:commands?|steps?)\b", re.IGNORECASE
)
_BRANCH = re.compile(
    r"^(?:origin|upstream|feature|feat|codex|fix|release|refs|heads|remotes)/|^(?:main|master|develop|dev|trunk)$|^@"
)


class Told(NamedTuple):
    """A folder that words name."""

    folder: str | None
    """From the root of the repository; None for one that these words do not make out."""
    lasting: bool = False
    """Whether it holds for what follows too."""
    always: bool = False
    """Whether it holds for all commands of the plan."""


class Folders:
    """What a plan calls its own root, and how a folder is counted from there."""

    def __init__(self, plan: Plan) -> None:
        self.roots = roots(plan.text.lines)

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
        found = joined(here, path)
        return found if found is None else found or ROOT

    def told(self, words: str) -> Told | None:
        """The folder that a sentence tells to be in, or None when it tells of none."""
        words = _NOT_THERE.sub("", words.replace("**", ""))
        lasting = bool(_LASTING.search(words))
        always = bool(_ALWAYS.search(words))
        if found := IS_ROOT.search(words):
            apart = [self.resolved(path) for path in _all(_NAMED, words) if _is_folder(path)]
            if _FRESH.search(words) or any([each not in (None, ROOT) for each in apart]):
                return Told(None, lasting=True)
            inner = re.match(rf"\W*of (?:the )?{_SPOKEN}", words[found.end() :])
            return Told(self.resolved(inner.group(1)) if inner else ROOT, lasting=True, always=always)
        if path := _named(words):
            return Told(self.resolved(path), lasting, always)
        if found := _FROM.search(words):
            path, kind = found.group(1), (found.group(2) or "").lower()
            folder = kind in ("directory", "folder", "package", "crate", "workspace", "app")
            if not _BRANCH.search(path) and (folder or "/" in path or path[1:3] == ":\\") and _is_folder(path):
                runs = re.search(
                    RUNS + r"|^\W*(?:\d+[.)]\W*)?(?:(?:then|next|now|finally|and),? )*from\b", words, re.IGNORECASE
                )
                return Told(self.resolved(path) if runs else None, lasting)
        if (
            (found := STATED.search(words))
            and not found.group(1).startswith(NEVER)
            and re.search(RUNS, words, re.IGNORECASE)
        ):
            return Told(self.resolved(found.group(1)), lasting)
        relative = _RELATIVE.search(words) is not None
        if relative or _UNCLEAR.search(words) or any([_is_folder(each) for each in _all(_LIES, words)]):
            return Told(None, lasting and relative)
        for found in (_IN.search(words), _OTHER_TONGUES.search(words)):
            if found and "/" in found.group(1) and _is_folder(found.group(1)):
                return Told(None)
        return None


def _named(words: str) -> str:
    """The folder that words plainly name to be in, or nothing."""
    plain = [path for each in (_NAMED, _AT_START, _AT_END, _CD, _FOREIGN, _STATED_PLAIN) for path in _all(each, words)]
    maybe = [path for each in (_FROM_START, _PLAIN_START) for path in _all(each, words) if not _BRANCH.search(path)]
    return next((each for each in [*plain, *maybe] if _is_folder(each)), "")


def _all(pattern: Pattern[str], words: str) -> list[str]:
    """What a pattern holds of words where it is found first."""
    found = pattern.search(words)
    return [each for each in found.groups() if each] if found else []


def _is_folder(path: str) -> bool:
    """Whether a path can be a folder's: no file's ending, nothing of a pattern or an address."""
    last = path.rstrip("/\\").replace("\\", "/").rpartition("/")[2]
    dotted = "." in last.lstrip(".") and not path.endswith("/") and last[-1:] != "."
    odd = any([char in path for char in "*{}<>$=?#&|;,()"]) or "://" in path or path.startswith(("@", "-", "--"))
    absolute = path.startswith(("/", "~", "...")) or path[1:3] == ":\\"
    return not odd and (not dotted or absolute)
