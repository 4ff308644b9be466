"""Files for secrets that a pattern of paths may match, such as git's pathspecs and the globs of a search."""

from __future__ import annotations

import os

from execplan.core.secrets.secret_files import (
    AMBIGUOUS_FILES,
    CODE_SUFFIXES,
    KEY_FILES,
    SECRET_DIRECTORIES,
    SECRET_FILES,
    is_secret_file,
)
from execplan.core.text.pure_paths import WILDCARDS, matches_glob
from execplan.execution.shell.printed_secrets import secrets_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_ALTERNATIVES = 64


def find_matching_secrets(pattern: str, folder: str) -> list[str]:
    """Return the real paths of files for secrets that a pattern, relative to a directory, may match.

    These are existing files, and names of the list at which the pattern is aimed, because git also reads deleted files.
    In doubt, a pattern matches more than the program that expands it: `*` and `?` also match a slash.
    """
    matches: dict[str, None] = {}
    for alternative in _expand_braces(pattern):
        absolute = os.path.normpath(os.path.join(folder, alternative))
        simplified = _simplify(absolute)
        name = simplified.rpartition("/")[2]
        if secret := _find_aimed_secret(name):
            matches[os.path.join(os.path.dirname(absolute), secret)] = None
        elif not WILDCARDS.isdisjoint(simplified) and not _matches_only_code(simplified):
            matches |= dict.fromkeys(_existing_secrets(absolute, simplified, folder))
    return list(matches)


def _expand_braces(pattern: str) -> list[str]:
    """Return the patterns that result from `{a,b}`; too many are none of the user's, and match everything."""
    pending, expanded = [pattern], []
    while pending:
        text = pending.pop()
        end = text.find("}")
        start = text.rfind("{", 0, end) if end >= 0 else -1
        if start < 0:
            expanded.append(text)
        else:
            pending += [text[:start] + choice + text[end + 1 :] for choice in text[start + 1 : end].split(",")]
        if len(pending) + len(expanded) > _MAX_ALTERNATIVES:
            return ["*"]
    return expanded


def _simplify(pattern: str) -> str:
    """Return a pattern in lower case without backslashes and sets of characters, which `?` replaces."""
    text = pattern.casefold().replace("\\", "").replace("**/", "*")
    at = text.find("[")
    while at >= 0:
        end = text.find("]", at + 2)
        while end > 0 and text[end - 1] in ":.=" and text.find("]", end + 1) > 0:
            end = text.find("]", end + 1)
        text = f"{text[:at]}?{text[end + 1 :]}" if end > 0 else text.replace("[", "?")
        at = text.find("[")
    return text


def _find_aimed_secret(name: str) -> str:
    """Return a listed name that the last part of a pattern matches, if it matches no ordinary name with its suffix."""
    if is_secret_file(name):
        return name
    for secret in (*SECRET_FILES, *KEY_FILES, *AMBIGUOUS_FILES):
        for sample in dict.fromkeys((secret.replace("*", ""), secret.replace("*", "x"))):
            ordinary = f"ordinary.{sample.rpartition('.')[2]}" if "." in sample.lstrip(".") else "ordinary"
            if is_secret_file(sample) and matches_glob(sample, name) and not matches_glob(ordinary, name):
                return sample
    return ""


def _matches_only_code(pattern: str) -> bool:
    """Check whether a pattern matches only modules and documents outside directories of secrets."""
    suffix = pattern.rpartition("/")[2].rpartition(".")[2]
    return suffix in CODE_SUFFIXES and not any(
        [matches_glob(part, wild) for part in SECRET_DIRECTORIES for wild in pattern.split("/")[:-1] if wild.strip("*")]
    )


def _existing_secrets(pattern: str, simplified: str, folder: str) -> Iterator[str]:
    """Yield the existing files for secrets that a pattern matches, by their path or only by their name."""
    wild_at = min([at for at, char in enumerate(pattern) if char in "*?[\\"], default=len(pattern))
    name = simplified.rpartition("/")[2]
    for path in secrets_below(os.path.dirname(pattern[:wild_at]), folder):
        if matches_glob(path.casefold(), simplified) or matches_glob(os.path.basename(path).casefold(), name):
            yield os.path.realpath(path)
