"""What a plan calls the root of its own repository, in words and as an absolute path."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_ROOT = (
    r"(?:repo(?:sitory)?|project|workspace|worktree|checkout|monorepo|solution)(?:'s|’s)?[- ](?:top[- ]level|root)\b|"
    r"\broot (?:directory |folder )?of (?:the |this |your )?(?:`?[\w.@-]+`? )?(?:(?:mono)?repo(?:sitory)?|project|checkout|worktree|workspace|working tree|solution|codebase|source tree)|"
    r"top[- ]level (?:directory |folder )?of (?:the |this )?(?:repo(?:sitory)?|project|checkout)|\b(?:from|in|at) the root(?: directory| folder)?\b(?! of)|"
    r"仓库根|项目根|根目录|저장소 ?루트|레포 ?루트|프로젝트 ?루트|リポジトリの?ルート|プロジェクトの?ルート|リポジトリ直下|"
    r"\b(?:wurzel|stamm|haupt)verzeichnis (?:des|der) (?:repo|projekt)|\b(?:projekt|repo)[- ]?wurzel|\bracine (?:du|de ce) (?:dépôt|repo|projet)|\braíz del (?:repo|proyecto)|\braiz do (?:repo|projeto)|"
    r"\bradice del (?:repo|progetto)|корн\w+ (?:репозитория|проекта)|"
    r"\b(?:in|inside|within|from) (?:the|this) (?:repo(?:sitory)?|checkout|worktree|working tree)\b(?! (?:directory|folder|that|of|named|called))"
)
IS_ROOT = re.compile(_ROOT, re.IGNORECASE)
_PATH = r"(?:~?/|[A-Za-z]:\\{1,2}|\.\.\./)[^\s`'\"()<>,;|*]*[^\s`'\"()<>,;|*.:]"
_CALLED = re.compile(rf"(?:{_ROOT})(?:,? (?:at|is|which is|being))?[\s:,(]*`?({_PATH})`?", re.IGNORECASE)
STATED = re.compile(
    rf"(?:\b(?:from|in|into|cd|directory|folder|workdir|cwd)(?: for (?:all|every|these) commands?)?(?: is)?:?\s+(?:the )?|^\s*cd\s+)`?({_PATH})`?",
    re.IGNORECASE,
)
_ANY_PATH = re.compile(rf"(?<![\w./:])({_PATH})")
NEVER = tuple([f"/{each}" for each in "tmp var etc usr dev proc private opt bin api v1".split()])
"""No repository lies there, or these are addresses."""
RUNS = r"\b(?:re-?)?(?:run|runs|running|execute[ds]?|works?|working|commands?|invoke|cd|cwd|workdir|start|begin)\b"


def roots(lines: Sequence[str]) -> tuple[str, ...]:
    """The absolute folders that a plan means by the root of its repository.

    What it calls so, else the one folder to work in that all others it names lie in, if nothing shows that it is a part only.
    """
    text = "\n".join(lines)
    if _ANY_PATH.search(text) is None:
        return ()
    near = [
        f"{line} {lines[at + 1] if at + 1 < len(lines) else ''}"
        for at, line in enumerate(lines)
        if any(
            [
                word in line
                for word in ("oot", "op-level", "op level", "repo", "checkout", "work", "根", "루트", "ルート")
            ]
        )
    ]
    called = {_bare(found.group(1)) for each in near for found in _CALLED.finditer(each)} - {""}
    if called:
        return tuple(sorted(called, key=lambda each: (-len(each), each)))
    told = [
        found
        for line in lines
        if re.search(RUNS + r"|^\W*(?:\d+[.)]\W*)?from\b", line, re.IGNORECASE)
        for found in STATED.finditer(line)
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
        or f"{bare}/".startswith(tuple([f"{each}/" for each in NEVER]))
    )
    return "" if odd else bare
