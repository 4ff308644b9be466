"""Patterns of paths in the risk table: `*` stays within a directory, `**` does not, and case is ignored."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.text.glob_match import matches_glob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import Pattern

_TOKENS = {"**/": "(?:.*/)?", "/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
_SPLIT = r"(\*\*/|/\*\*|\*\*|\*|\?)"


class _PathPatterns(NamedTuple):
    """Patterns by kind, in lower case, so that most paths are compared without a regular expression."""

    names: frozenset[str]
    """Names of files or directories at any depth."""
    name_prefixes: tuple[str, ...]
    name_suffixes: tuple[str, ...]
    name_globs: tuple[str, ...]
    """Patterns of names with another form than `PREFIX*` and `*SUFFIX`."""
    paths: frozenset[str]
    path_globs: tuple[tuple[str, ...], ...]
    """Patterns of each part of a path."""
    directories: tuple[str, ...]
    """Directories that match with everything in them."""
    complex_patterns: tuple[str, ...]
    """Patterns that only a regular expression can compare, as they were written."""


_COMPILED: dict[tuple[str, ...], _PathPatterns] = {}
_EXPRESSIONS: dict[tuple[str, ...], Pattern[str]] = {}


def matches_any(path: str, patterns: tuple[str, ...]) -> bool:
    """Return whether one of the patterns matches a whole path or, if it has no slash, one of its parts."""
    if not patterns:
        return False
    if not path.isascii():  # outside ASCII, lower case is not all that ignoring case means
        return _expression(patterns).fullmatch(path) is not None
    compiled = _COMPILED.get(patterns)
    if compiled is None:
        compiled = _COMPILED[patterns] = _compile(patterns)
    path = path.lower()
    parts = path.split("/")
    return (
        path in compiled.paths
        or not compiled.names.isdisjoint(parts)
        or any([part.startswith(compiled.name_prefixes) or part.endswith(compiled.name_suffixes) for part in parts])
        or any([matches_glob(part, glob) for glob in compiled.name_globs for part in parts])
        or any([path == directory or path.startswith(f"{directory}/") for directory in compiled.directories])
        or any([_match_parts(parts, globs) for globs in compiled.path_globs])
        or (bool(compiled.complex_patterns) and _expression(compiled.complex_patterns).fullmatch(path) is not None)
    )


def _compile(patterns: tuple[str, ...]) -> _PathPatterns:
    names: list[str] = []
    name_prefixes: list[str] = []
    name_suffixes: list[str] = []
    name_globs: list[str] = []
    paths: list[str] = []
    path_globs: list[tuple[str, ...]] = []
    directories: list[str] = []
    complex_patterns: list[str] = []
    for pattern_text in patterns:
        pattern = pattern_text.lower()
        is_literal = "*" not in pattern and "?" not in pattern
        directory = pattern.removesuffix("/**")
        if not pattern.isascii() or "[" in pattern:
            complex_patterns.append(pattern_text)
        elif is_literal:
            (paths if "/" in pattern else names).append(pattern)
        elif directory != pattern and "*" not in directory and "?" not in directory:
            directories.append(directory)
        elif "**" in pattern:
            complex_patterns.append(pattern_text)
        elif "/" in pattern:
            path_globs.append(tuple(pattern.split("/")))
        elif "?" in pattern or pattern.count("*") > 1 or "*" not in (pattern[0], pattern[-1]):
            name_globs.append(pattern)
        elif pattern[0] == "*":
            name_suffixes.append(pattern[1:])
        else:
            name_prefixes.append(pattern[:-1])
    return _PathPatterns(
        frozenset(names),
        tuple(name_prefixes),
        tuple(name_suffixes),
        tuple(name_globs),
        frozenset(paths),
        tuple(path_globs),
        tuple(directories),
        tuple(complex_patterns),
    )


def _match_parts(parts: list[str], globs: tuple[str, ...]) -> bool:
    return len(parts) == len(globs) and all([matches_glob(*pair) for pair in zip(parts, globs, strict=True)])


def _expression(patterns: tuple[str, ...]) -> Pattern[str]:
    """Return the regular expression of all patterns."""
    if patterns not in _EXPRESSIONS:
        import re

        full_patterns = [pattern if "/" in pattern else f"**/{pattern}/**" for pattern in patterns]
        expression = "|".join(
            [
                "".join([_TOKENS.get(token, re.escape(token)) for token in re.split(_SPLIT, pattern)])
                for pattern in full_patterns
            ]
        )
        _EXPRESSIONS[patterns] = re.compile(expression, re.DOTALL | re.IGNORECASE)
    return _EXPRESSIONS[patterns]
