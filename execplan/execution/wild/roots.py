"""What a plan calls the root of its own repository, in words and as an absolute path."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

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
_NAMED_ROOT = re.compile(rf"(?:{_ROOT_PHRASE})(?:,? (?:at|is|which is|being))?[\s:,(]*`?({_ABSOLUTE_PATH})`?", re.IGNORECASE)
STATED_PATH = re.compile(
    rf"(?:\b(?:from|in|into|cd|directory|folder|workdir|cwd)(?: for (?:all|every|these) commands?)?(?: is)?:?\s+(?:the )?|^\s*cd\s+)`?({_ABSOLUTE_PATH})`?",
    re.IGNORECASE,
)
_ANY_ABSOLUTE_PATH = re.compile(rf"(?<![\w./:])({_ABSOLUTE_PATH})")
SYSTEM_PATHS = tuple([f"/{name}" for name in "tmp var etc usr dev proc private opt bin api v1".split()])
"""No repository lies there, or these are addresses."""
RUN_WORDS = r"\b(?:re-?)?(?:run|runs|running|execute[ds]?|works?|working|commands?|invoke|cd|cwd|workdir|start|begin)\b"


def find_repository_roots(lines: Sequence[str]) -> tuple[str, ...]:
    """The absolute folders that a plan means by the root of its repository.

    What it calls so, else the one folder to work in that all others it names lie in, if nothing shows that it is a part only.
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
    named_roots = {_normalize_absolute(match.group(1)) for candidate in candidate_lines for match in _NAMED_ROOT.finditer(candidate)} - {""}
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
    top_paths = [path for path in stated_roots if all([other_path == path or other_path.startswith(f"{path}/") for other_path in stated_roots])]
    if not top_paths:
        return ()
    root = top_paths[0]
    parent, _, name = root.rpartition("/")
    absolute_paths = [match.group(1).rstrip("/") for match in _ANY_ABSOLUTE_PATH.finditer(text)]
    is_part = bool(parent.strip("/~")) and any(
        [f"{path}/".startswith(f"{parent}/") and not f"{path}/".startswith(f"{root}/") for path in absolute_paths]
    )
    has_inner_path = re.search(rf"(?<![\w./-]){re.escape(name)}/\w", text) is not None
    return () if is_part or has_inner_path else (root,)


def _normalize_absolute(path: str) -> str:
    """An absolute path with slashes, and none at its end."""
    normalized = path.replace("\\\\", "\\").replace("\\", "/").rstrip("/.")
    is_unusable = (
        "." in normalized.rpartition("/")[2]
        or "path/to" in normalized
        or f"{normalized}/".startswith(tuple([f"{prefix}/" for prefix in SYSTEM_PATHS]))
    )
    return "" if is_unusable else normalized
