"""Directories for commands, as far as the text of a plan names them."""

from __future__ import annotations

import re

from execplan.named_tuple import NamedTuple
from execplan.text.pure_paths import is_inside, resolve_relative

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from re import Pattern

    from execplan.plan.model import ParsedPlan


_ROOT_PHRASE = (
    r"(?:repo(?:sitory)?|project|workspace|worktree|checkout|monorepo|solution)(?:'s|’s)?[- ](?:top[- ]level|root)\b|"
    r"\broot (?:directory |folder )?of (?:the |this |your )?(?:`?[\w.@-]+`? )?(?:(?:mono)?repo(?:sitory)?|project|checkout|worktree|workspace|working tree|solution|codebase|source tree)|"
    r"top[- ]level (?:directory |folder )?of (?:the |this )?(?:repo(?:sitory)?|project|checkout)|\b(?:from|in|at) the root(?: directory| folder)?\b(?! of)|"
    r"仓库根|项目根|根目录|저장소 ?루트|레포 ?루트|프로젝트 ?루트|リポジトリの?ルート|プロジェクトの?ルート|リポジトリ直下|"
    r"\b(?:wurzel|stamm|haupt)verzeichnis (?:des|der) (?:repo|projekt)|\b(?:projekt|repo)[- ]?wurzel|\bracine (?:du|de ce) (?:dépôt|repo|projet)|\braíz del (?:repo|proyecto)|\braiz do (?:repo|projeto)|"
    r"\bradice del (?:repo|progetto)|корн\w+ (?:репозитория|проекта)|"
    r"\b(?:in|inside|within|from) (?:the|this) (?:repo(?:sitory)?|checkout|worktree|working tree)\b(?! (?:directory|folder|that|of|named|called))"
)
ROOT_MENTION = re.compile(_ROOT_PHRASE, re.IGNORECASE)
_ABSOLUTE_PATH = r"(?:~?/|[A-Za-z]:\\{1,2}|\.\.\./)[^\s`'\"()<>,;|*]*[^\s`'\"()<>,;|*.:]"
_NAMED_ROOT = re.compile(
    rf"(?:{_ROOT_PHRASE})(?:,? (?:at|is|which is|being))?[\s:,(]*`?({_ABSOLUTE_PATH})`?", re.IGNORECASE
)
STATED_PATH = re.compile(
    rf"(?:\b(?:from|in|into|cd|directory|folder|workdir|cwd)(?: for (?:all|every|these) commands?)?(?: is)?:?\s+(?:the )?|^\s*cd\s+)`?({_ABSOLUTE_PATH})`?",
    re.IGNORECASE,
)
_ANY_ABSOLUTE_PATH = re.compile(rf"(?<![\w./:])({_ABSOLUTE_PATH})")
SYSTEM_PATHS = tuple([f"/{name}" for name in "tmp var etc usr dev proc private opt bin api v1".split()])
"""Absolute paths that contain no repository, or that are addresses."""
RUN_WORDS = r"\b(?:re-?)?(?:run|runs|running|execute[ds]?|works?|working|commands?|invoke|cd|cwd|workdir|start|begin)\b"


def find_repository_roots(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the absolute paths that a plan uses for the root of its repository.

    These are paths that it calls so. Otherwise it is the one working directory that contains all others, unless
    something shows that it is only a part of the repository.
    """
    text = "\n".join(lines)
    if _ANY_ABSOLUTE_PATH.search(text) is None:
        return ()
    candidate_lines = [
        f"{line} {lines[at + 1] if at + 1 < len(lines) else ''}"
        for at, line in enumerate(lines)
        if any(
            [
                hint in line
                for hint in ("oot", "op-level", "op level", "repo", "checkout", "work", "根", "루트", "ルート")
            ]
        )
    ]
    named_roots = {
        _normalize_absolute(match.group(1))
        for candidate in candidate_lines
        for match in _NAMED_ROOT.finditer(candidate)
    } - {""}
    if named_roots:
        return tuple(sorted(named_roots, key=lambda path: (-len(path), path)))
    matches = [
        match
        for line in lines
        if re.search(RUN_WORDS + r"|^\W*(?:\d+[.)]\W*)?from\b", line, re.IGNORECASE)
        for match in STATED_PATH.finditer(line)
    ]
    stated_roots = {_normalize_absolute(match.group(1)) for match in matches} - {""}
    stated_roots = {
        path
        for path in stated_roots
        if path.count("/") > 1
        or re.search(rf"(?:commands.* from|run from|work from|directory|\bcd) `?{re.escape(path)}", text, re.IGNORECASE)
    }
    top_paths = [path for path in stated_roots if all([is_inside(other_path, path) for other_path in stated_roots])]
    if not top_paths:
        return ()
    root = top_paths[0]
    parent, _, name = root.rpartition("/")
    absolute_paths = [match.group(1).rstrip("/") for match in _ANY_ABSOLUTE_PATH.finditer(text)]
    is_part = bool(parent.strip("/~")) and any(
        [is_inside(path, parent) and not is_inside(path, root) for path in absolute_paths]
    )
    has_inner_path = re.search(rf"(?<![\w./-]){re.escape(name)}/\w", text) is not None
    return () if is_part or has_inner_path else (root,)


def _normalize_absolute(path: str) -> str:
    """Return an absolute path with forward slashes and no trailing one, or an empty string if it is unusable."""
    normalized = path.replace("\\\\", "\\").replace("\\", "/").rstrip("/.")
    is_unusable = (
        "." in normalized.rpartition("/")[2]
        or "path/to" in normalized
        or f"{normalized}/".startswith(tuple([f"{prefix}/" for prefix in SYSTEM_PATHS]))
    )
    return "" if is_unusable else normalized


ROOT = "."
_QUOTED_PATH = r"`([^`\s]+)`"
_FROM_PATH = re.compile(rf"\bfrom (?:within |inside )?(?:the )?{_QUOTED_PATH}(?: (\w+))?", re.IGNORECASE)
_LEADING_PATH = re.compile(
    rf"^(?:\W*\d+[.)]\s*)?[\W_]*(?:then,? |next,? |finally,? |now,? |still |also |and )?(?:in|inside|within|under|at) (?:the )?{_QUOTED_PATH}(?: (?:directory|folder|package|crate|app|workspace))?\s*(?:$|[:,(]|(?:re-?)?run\b|execute\b)",
    re.IGNORECASE,
)
_WORKING_DIRECTORY = re.compile(
    rf"\b(?:working directory|workdir|cwd|work (?:in|from)|(?:cd|change|go|switch) (?:in)?to|(?:run|execute) (?:the following|these|this|them|everything)(?: \w+)? (?:in|inside|within|from)|(?:commands?|them|these|everything|steps(?: below)?) (?:are |is )?(?:to be |should be |must be )?(?:run |executed )?(?:in|inside|within))(?: for (?:all|every|these)[^:`]*)?(?: is)?:?\s*(?:the )?{_QUOTED_PATH}",
    re.IGNORECASE,
)
_CD_COMMAND = re.compile(r"`cd ([^`&;|]+)`")
_IN_PATH = re.compile(rf"\b(?:in|inside|within|under) (?:the )?{_QUOTED_PATH}", re.IGNORECASE)
_TRAILING_PATH = re.compile(
    rf"[,(] ?(?:run )?(?:in|inside|within|from) (?:the )?{_QUOTED_PATH}(?: (?:directory|folder|package|crate|app|workspace))?\)?:\s*$"
)
_NEGATED_PATH = re.compile(rf",? (?:and |but )?not (?:from|in|inside|within) (?:the )?{_QUOTED_PATH}", re.IGNORECASE)
_RELATIVE_TO = re.compile(rf"\brelative to (?:the )?{_QUOTED_PATH}", re.IGNORECASE)
_FRESH_CHECKOUT = re.compile(
    r"\b(?:in|of|from) an? (?:\w+ )?(?:fresh|clean|new|second|separate|different) (?:\w+ )?(?:clone|checkout|worktree|copy)\b",
    re.IGNORECASE,
)
"""Phrases for a checkout other than the one that contains the plan."""
_FOREIGN_PREPOSITION = re.compile(
    rf"(?:[在从進进入へ于于]|\b(?:im|aus|dans|depuis|en|desde|nella)\b) ?(?:\w+ )?{_QUOTED_PATH}"
)
_FOREIGN_DIRECTORY_WORD = (
    r"(?:(?:le |the )?(?:Ordner|Verzeichnis|dossier|répertoire)|(?:la )?(?:carpeta|cartella|pasta)|(?:el )?directorio)"
)
_FOREIGN_DIRECTORY = re.compile(
    rf"{_QUOTED_PATH} ?(?:디렉터리|디렉토리|폴더)(?: 안)?(?:에서|로 이동)|{_QUOTED_PATH} ?(?:ディレクトリ|フォルダー?)(?:内|の中)?(?:で|に移動|へ移動)|"
    rf"^(?:\W*\d+[.)]\s*)?[\W_]*(?:`([^`\s]*/[^`\s]*)` ?(?:内|の中)?で|{_QUOTED_PATH} ?에서)|(?:在|进入|切换到) ?{_QUOTED_PATH} ?(?:目录|文件夹|下|中|里|内)|"
    rf"\b(?:im|in|aus|dans|depuis|en|desde|nella|na) {_FOREIGN_DIRECTORY_WORD} {_QUOTED_PATH}|"
    rf"^(?:\W*\d+[.)]\s*)?[\W_]*(?:im|aus|dans|depuis|en|desde|nella) {_QUOTED_PATH}\s*(?:$|[:,(：])",
    re.IGNORECASE,
)
"""Phrases that name a directory in languages other than English."""
_SENTENCE_START = r"^(?:\W*\d+[.)]\s*)?[\W_]*(?:(?:then|next|finally|now|still|also),? )?"
_LEADING_FROM = re.compile(
    rf"{_SENTENCE_START}from (?:within |inside )?(?:the )?{_QUOTED_PATH}\s*(?:$|[:,(]|(?:re-?)?run\b|execute\b)",
    re.IGNORECASE,
)
_LEADING_PLAIN_PATH = re.compile(
    rf"{_SENTENCE_START}(?:from|in|inside|within) (?:the )?([\w@.-]+/[\w@./-]*)(?: (?:directory|folder|package|crate|app|workspace))?\s*(?:$|[:,(]|(?:re-?)?run\b|execute\b)",
    re.IGNORECASE,
)
_LOCATION = re.compile(
    rf"\b(?:lives?|sits?|resides?|located) (?:in|under|at) (?:the )?{_QUOTED_PATH}|{_SENTENCE_START}the {_QUOTED_PATH} (?:directory|folder|package|crate|app|service)\b.*:\s*$|"
    r"^`?([\w@.-]+(?:/[\w@.-]+)*/)`?:?$|^`([\w@.-]+(?:/[\w@.-]+)+)`:$|\(`([\w@.-]+/|[\w@.-]+(?:/[\w@.-]+)+/?)`\):?$",
    re.IGNORECASE,
)
"""Phrases for the location of something that the following commands may concern."""
_PLAIN_WORKING_DIRECTORY = re.compile(
    r"\b(?:working directory|workdir|cwd)(?: is)?\s*[:=]\s*([\w@][\w@.-]*(?:/[\w@.-]*)*)", re.IGNORECASE
)
_UNCLEAR_DIRECTORY = re.compile(
    r"\b(?:for|in|from) (?:each|both|every)\b[^.;]*?(?:`[^`\s]+`|\b(?:packages?|crates?|services?|apps?|modules?|workspaces?|director(?:y|ies)|folders?)\b)|"
    r"\b(?:from|in|inside|within|under|into|on|against)\s+(?:(?:the|a|an|your|its|each|that|another|any|some|both|every|one|two|separate|fresh|clean|new|second|temporary|isolated|dedicated|sibling|upstream|external|target|remote)\b[\s-]*)+"
    r"[^.:;,]{0,40}?\b(?:director(?:y|ies)|folders?|worktrees?|checkouts?|packages?|crates?|subprojects?|modules?|submodules?|repos?|repositor(?:y|ies)|clones?|containers?|vm|shells?|terminals?|sessions?|windows?|hosts?|servers?|machines?|devices?|sandbox|browser|console|pod|cluster|emulator|simulator)\b",
    re.IGNORECASE,
)
_LASTING_SCOPE = re.compile(r"\b(?:all|every|commands|working directory|work (?:from|in)|workdir|cwd)\b", re.IGNORECASE)
_GLOBAL_SCOPE = re.compile(
    r"\b(?:all|every) (?:of the |the |these |following )?(?:shell )?(?:commands?|steps?)\b", re.IGNORECASE
)
_BRANCH_NAME = re.compile(
    r"^(?:origin|upstream|feature|feat|codex|fix|release|refs|heads|remotes)/|^(?:main|master|develop|dev|trunk)$|^@"
)


class DirectoryMention(NamedTuple):
    """A directory that a text names."""

    directory: str | None
    """Path from the repository root; None if the text does not determine it."""
    is_lasting: bool = False
    """Whether the directory also applies to what follows."""
    is_global: bool = False
    """Whether the directory applies to all commands of the plan."""


class DirectoryResolver:
    """Resolves directories relative to the root that the plan itself uses."""

    def __init__(self, plan: ParsedPlan) -> None:
        self.roots = find_repository_roots(plan.text.lines)

    def resolve(self, path: str, base: str | None = ROOT) -> str | None:
        """Return a directory from the repository root, or None if it is outside or only a shell can determine it."""
        path = path.strip().strip("\"'").replace("\\\\", "\\")
        if path.startswith(("/", "~", "...")) or path[1:3] == ":\\":
            normalized = path.replace("\\", "/").rstrip("/")
            for root in self.roots:
                if is_inside(normalized, root):
                    return normalized[len(root) + 1 :] or ROOT
            return None
        if base is None or not path or path[0] == "-" or not re.fullmatch(r"[\w@.+/ -]+", path):
            return None
        joined_path = resolve_relative(base, path)
        return joined_path if joined_path is None else joined_path or ROOT

    def find_mention(self, sentence: str) -> DirectoryMention | None:
        """Return the directory in which a sentence says to work, or None if it mentions none."""
        sentence = _NEGATED_PATH.sub("", sentence.replace("**", ""))
        is_lasting = bool(_LASTING_SCOPE.search(sentence))
        is_global = bool(_GLOBAL_SCOPE.search(sentence))
        if match := ROOT_MENTION.search(sentence):
            other_directories = [
                self.resolve(path)
                for path in _first_match_groups(_WORKING_DIRECTORY, sentence)
                if _looks_like_directory(path)
            ]
            if _FRESH_CHECKOUT.search(sentence) or any(
                [directory not in (None, ROOT) for directory in other_directories]
            ):
                return DirectoryMention(None, is_lasting=True)
            inner_match = re.match(rf"\W*of (?:the )?{_QUOTED_PATH}", sentence[match.end() :])
            return DirectoryMention(
                self.resolve(inner_match.group(1)) if inner_match else ROOT, is_lasting=True, is_global=is_global
            )
        if path := _find_named_directory(sentence):
            return DirectoryMention(self.resolve(path), is_lasting, is_global)
        if match := _FROM_PATH.search(sentence):
            path, kind = match.group(1), (match.group(2) or "").lower()
            is_directory_word = kind in ("directory", "folder", "package", "crate", "workspace", "app")
            if (
                not _BRANCH_NAME.search(path)
                and (is_directory_word or "/" in path or path[1:3] == ":\\")
                and _looks_like_directory(path)
            ):
                is_run = re.search(
                    RUN_WORDS + r"|^\W*(?:\d+[.)]\W*)?(?:(?:then|next|now|finally|and),? )*from\b",
                    sentence,
                    re.IGNORECASE,
                )
                return DirectoryMention(self.resolve(path) if is_run else None, is_lasting)
        if (
            (match := STATED_PATH.search(sentence))
            and not match.group(1).startswith(SYSTEM_PATHS)
            and re.search(RUN_WORDS, sentence, re.IGNORECASE)
        ):
            return DirectoryMention(self.resolve(match.group(1)), is_lasting)
        is_relative = _RELATIVE_TO.search(sentence) is not None
        if (
            is_relative
            or _UNCLEAR_DIRECTORY.search(sentence)
            or any([_looks_like_directory(candidate) for candidate in _first_match_groups(_LOCATION, sentence)])
        ):
            return DirectoryMention(None, is_lasting and is_relative)
        for match in (_IN_PATH.search(sentence), _FOREIGN_PREPOSITION.search(sentence)):
            if match and "/" in match.group(1) and _looks_like_directory(match.group(1)):
                return DirectoryMention(None)
        return None


def _find_named_directory(sentence: str) -> str:
    """Return the directory that a sentence clearly names as the working directory, or an empty string."""
    certain_paths = [
        path
        for pattern in (
            _WORKING_DIRECTORY,
            _LEADING_PATH,
            _TRAILING_PATH,
            _CD_COMMAND,
            _FOREIGN_DIRECTORY,
            _PLAIN_WORKING_DIRECTORY,
        )
        for path in _first_match_groups(pattern, sentence)
    ]
    possible_paths = [
        path
        for pattern in (_LEADING_FROM, _LEADING_PLAIN_PATH)
        for path in _first_match_groups(pattern, sentence)
        if not _BRANCH_NAME.search(path)
    ]
    return next((candidate for candidate in [*certain_paths, *possible_paths] if _looks_like_directory(candidate)), "")


def _first_match_groups(pattern: Pattern[str], text: str) -> list[str]:
    """Return the non-empty groups of the first match of a pattern."""
    match = pattern.search(text)
    return [group for group in match.groups() if group] if match else []


def _looks_like_directory(path: str) -> bool:
    """Return whether a path may be a directory: no file extension, pattern or address."""
    name = path.rstrip("/\\").replace("\\", "/").rpartition("/")[2]
    has_extension = "." in name.lstrip(".") and not path.endswith("/") and name[-1:] != "."
    has_special_characters = (
        any([char in path for char in "*{}<>$=?#&|;,()"]) or "://" in path or path.startswith(("@", "-", "--"))
    )
    is_absolute = path.startswith(("/", "~", "...")) or path[1:3] == ":\\"
    return not has_special_characters and (not has_extension or is_absolute)
