"""Directories for commands, as far as the text of a plan names them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from re import Pattern

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.model import ParsedPlan
from execplan.core.text.lazy_pattern import lazy_pattern
from execplan.core.text.pure_paths import is_inside, resolve_relative
from execplan.execution.inference.cue_table import EXPRESSIONS
from execplan.execution.inference.prose_cues import cue_pattern, find_cue

_ABSOLUTE_PATH = r"(?:~?/|[A-Za-z]:\\{1,2}|\.\.\./)[^\s`'\"()<>,;|*]*[^\s`'\"()<>,;|*.:]"
_ANY_ABSOLUTE_PATH = lazy_pattern(rf"(?<![\w./:])({_ABSOLUTE_PATH})")
SYSTEM_PATHS = tuple([f"/{name}" for name in "tmp var etc usr dev proc private opt bin api v1".split()])
"""Absolute paths that contain no repository, or that are addresses."""


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
        for match in cue_pattern("named_root").finditer(candidate)
    } - {""}
    if named_roots:
        return tuple(sorted(named_roots, key=lambda path: (-len(path), path)))
    matches = [
        match
        for line in lines
        if find_cue("runs", line) or find_cue("leading_from", line)
        for match in cue_pattern("stated_path").finditer(line)
    ]
    stated_roots = {_normalize_absolute(match.group(1)) for match in matches} - {""}
    stated_roots = {
        path
        for path in stated_roots
        if path.count("/") > 1
        or re.search(rf"(?:{EXPRESSIONS['before_root']}) `?{re.escape(path)}", text, re.IGNORECASE)
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
_CD_COMMAND = lazy_pattern(r"`cd ([^`&;|]+)`")
_BRANCH_NAME = lazy_pattern(
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
        sentence = cue_pattern("not_from_path").sub("", sentence.replace("**", ""))
        is_lasting = find_cue("lasting_directory", sentence) is not None
        is_global = find_cue("global_directory", sentence) is not None
        if match := find_cue("root", sentence):
            other_directories = [
                self.resolve(path)
                for path in _first_match_groups(cue_pattern("working_directory"), sentence)
                if _looks_like_directory(path)
            ]
            if find_cue("fresh_checkout", sentence) or any(
                [directory not in (None, ROOT) for directory in other_directories]
            ):
                return DirectoryMention(None, is_lasting=True)
            inner_match = find_cue("of_path", sentence[match.end() :])
            return DirectoryMention(
                self.resolve(inner_match.group(1)) if inner_match else ROOT, is_lasting=True, is_global=is_global
            )
        if path := _find_named_directory(sentence):
            return DirectoryMention(self.resolve(path), is_lasting, is_global)
        if match := find_cue("from_path", sentence):
            path, kind = match.group(1), (match.group(2) or "").lower()
            is_directory_word = kind in ("directory", "folder", "package", "crate", "workspace", "app")
            if (
                not _BRANCH_NAME.search(path)
                and (is_directory_word or "/" in path or path[1:3] == ":\\")
                and _looks_like_directory(path)
            ):
                is_run = find_cue("runs", sentence) or find_cue("from_there", sentence)
                return DirectoryMention(self.resolve(path) if is_run else None, is_lasting)
        if (
            (match := find_cue("stated_path", sentence))
            and not match.group(1).startswith(SYSTEM_PATHS)
            and find_cue("runs", sentence)
        ):
            return DirectoryMention(self.resolve(match.group(1)), is_lasting)
        is_relative = find_cue("relative_to", sentence) is not None
        if (
            is_relative
            or find_cue("unclear_directory", sentence)
            or any(
                [
                    _looks_like_directory(candidate)
                    for candidate in _first_match_groups(cue_pattern("location"), sentence)
                ]
            )
        ):
            return DirectoryMention(None, is_lasting and is_relative)
        paths = [
            path for cue in ("in_path", "in_path_foreign") for path in _first_match_groups(cue_pattern(cue), sentence)
        ]
        is_unclear = any(["/" in path and _looks_like_directory(path) for path in paths])
        return DirectoryMention(None) if is_unclear else None


def _find_named_directory(sentence: str) -> str:
    """Return the directory that a sentence clearly names as the working directory, or an empty string."""
    certain_paths = [
        path
        for pattern in (
            cue_pattern("working_directory"),
            cue_pattern("leading_path"),
            cue_pattern("trailing_path"),
            _CD_COMMAND,
            cue_pattern("foreign_directory"),
            cue_pattern("working_directory_setting"),
        )
        for path in _first_match_groups(pattern, sentence)
    ]
    possible_paths = [
        path
        for cue in ("leading_from_path", "leading_plain_path")
        for path in _first_match_groups(cue_pattern(cue), sentence)
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
