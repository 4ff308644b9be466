"""Files for secrets among the names that a command lists for another one, as in `find . -type f | xargs cat`."""

from __future__ import annotations

import os

from execplan.core.text.pure_paths import matches_glob
from execplan.execution.shell.command_table import FIND_EXPRESSIONS
from execplan.execution.shell.printed_secrets import exclusion_reason, git_reason, secrets_below
from execplan.execution.shell.reading_commands import GIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

_FIND_NAMES: Final = frozenset("-name -iname -path -ipath -wholename -iwholename".split())
_FIND_NOT: Final = frozenset(("!", "-not"))


def listed_secret_reason(argv: Sequence[str], folder: str, root: str) -> str:
    """Return why a command lists a file for secrets among the names that it prints; empty if it does not."""
    if argv[0] == GIT:
        return git_reason(argv, folder, root, lists=True)
    if argv[0] == "ls":
        letters = "".join([arg for arg in argv[1:] if arg.startswith("-")])
        directories = [arg for arg in argv[1:] if not arg.startswith("-")]
        secrets = [
            path
            for directory in directories or ["."]
            for path in secrets_below(os.path.join(folder, directory), root)
            if "a" in letters.lower() or not os.path.basename(path).startswith(".")
        ]
        return exclusion_reason(os.path.relpath(secrets[0], root), "name files") if secrets else ""
    return _found_secret_reason(argv[1:], folder, root) if argv[0] == "find" else ""


def _found_secret_reason(args: Sequence[str], folder: str, root: str) -> str:
    """Return why `find` lists a file for secrets: some files don't need to have one of the names of its expression.

    The names themselves are patterns, which are compared with files for secrets as arguments.
    """
    at = next((index for index, arg in enumerate(args) if arg.startswith("-") or arg in ("(", "!", ",")), len(args))
    directories, tests = args[:at] or ["."], _split_tests(args[at:])
    parts, start = [], 0
    for index, test in enumerate([*tests, ("-o",)]):
        if test[0] in ("-o", "-or", ","):
            parts.append(tests[start:index])
            start = index + 1
    has_groups = ("(",) in tests
    is_negated = [before[0] in _FIND_NOT for before in [("",), *tests]]
    if not (has_groups and any(is_negated)) and all([_requires_name(part) for part in parts]):
        return ""
    negated_tests = [test for test, negated in zip(tests, is_negated, strict=False) if negated]
    is_simple = not has_groups and len(parts) == 1 and not any([test[0] in _FIND_NOT for test in negated_tests])
    excluded = [test[1] for test in negated_tests if test[0] == "-name"]
    for directory in directories:
        for path in secrets_below(os.path.join(folder, directory), root):
            name = os.path.basename(path)
            if not (is_simple and any([matches_glob(name, glob) for glob in excluded])):
                return exclusion_reason(os.path.relpath(path, root), f"! -name '{name}'")
    return ""


def _split_tests(args: Sequence[str]) -> list[tuple[str, ...]]:
    """Split an expression of `find`, up to the command that it runs, into its tests, each with its operands."""
    tests, index = [], 0
    while index < len(args) and args[index] != "-exec":
        count = 1 + FIND_EXPRESSIONS.get(args[index], 0)
        tests.append(tuple(args[index : index + count]))
        index += count
    return tests


def _requires_name(tests: Sequence[tuple[str, ...]]) -> bool:
    """Return whether tests are only true for files with a certain name."""
    return any(
        [
            test[0] in _FIND_NAMES and before[0] not in _FIND_NOT
            for before, test in zip([("",), *tests], tests, strict=False)
        ]
    )
