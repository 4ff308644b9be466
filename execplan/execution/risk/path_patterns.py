"""Path patterns of the risk table: globs of a whole path or, without a slash, of one of its parts; case is ignored.

Regular expressions of all patterns take longer to compile than a guarded call, so simple patterns are matched without.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from re import Pattern

_GLOB_TOKENS = {"**/": "(?:.*/)?", "/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
_GLOB_SPLIT = r"(\*\*/|/\*\*|\*\*|\*|\?)"


class PathPatterns:
    """Some patterns, prepared for matching."""

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self._patterns = patterns
        self._pattern: Pattern[str] | None = None
        self._names: set[str] = set()
        """Names of parts, in lower case."""
        self._paths: set[str] = set()
        """Whole paths, in lower case."""
        self._folders: tuple[str, ...] = ()
        """Directories that match with everything in them, in lower case and with a slash at the end."""
        self._globs: list[list[str]] = []
        """Globs of a part, in lower case and split at their asterisks."""
        self._complex_patterns: list[str] = []
        for pattern in patterns:
            self._add(pattern)
        self._complex_expression = compile_patterns(self._complex_patterns) if self._complex_patterns else None

    def _add(self, pattern: str) -> None:
        folder = pattern.lower().removesuffix("/**") if "/" in pattern else ""
        if not pattern.isascii() or "?" in pattern or "**" in folder or ("/" not in pattern and "**" in pattern):
            self._complex_patterns.append(pattern)
        elif "/" not in pattern and "*" not in pattern:
            self._names.add(pattern.lower())
        elif "/" not in pattern:
            self._globs.append(pattern.lower().split("*"))
        elif "*" in folder:
            self._complex_patterns.append(pattern)
        else:
            self._paths.add(folder)
            self._folders += (f"{folder}/",) if pattern.endswith("/**") else ()

    def matches(self, path: str) -> bool:
        """Return whether a pattern matches a path."""
        if not path.isascii():  # some other letters count as the same in a regular expression, but not in lower case
            if self._pattern is None:
                self._pattern = compile_patterns(self._patterns)
            return self._pattern.fullmatch(path) is not None
        lowered = path.lower()
        if lowered in self._paths or lowered.startswith(self._folders):
            return True
        parts = lowered.split("/")
        return (
            not self._names.isdisjoint(parts)
            or any([_matches_glob(part, pieces) for pieces in self._globs for part in parts])
            or (self._complex_expression is not None and self._complex_expression.fullmatch(path) is not None)
        )


def _matches_glob(text: str, pieces: list[str]) -> bool:
    """Return whether a text consists of these pieces, in order, with anything between them."""
    first, *middle, last = pieces
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    position, end = len(first), len(text) - len(last)
    for piece in middle:
        index = text.find(piece, position, end)
        if index < 0:
            return False
        position = index + len(piece)
    return True


def compile_patterns(patterns: Iterable[str]) -> Pattern[str]:
    """Compile patterns to a regular expression that matches the whole path."""
    import re

    full_patterns = [pattern if "/" in pattern else f"**/{pattern}/**" for pattern in patterns]
    expression = "|".join(
        [
            "".join([_GLOB_TOKENS.get(token, re.escape(token)) for token in re.split(_GLOB_SPLIT, pattern)])
            for pattern in full_patterns
        ]
    )
    return re.compile(expression, re.DOTALL | re.IGNORECASE)


_PREPARED: dict[tuple[str, ...], PathPatterns] = {}


def matches_any(path: str, patterns: tuple[str, ...]) -> bool:
    """Return whether one of the patterns matches a path."""
    if not patterns:
        return False
    if patterns not in _PREPARED:
        _PREPARED[patterns] = PathPatterns(patterns)
    return _PREPARED[patterns].matches(path)
