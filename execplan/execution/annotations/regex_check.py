"""Check of regular expressions that steps search for."""

from __future__ import annotations


def regex_problem(pattern: str, replacement: str) -> str:
    """Return why a regular expression or its replacement is invalid, or an empty string; nothing is searched."""
    import re
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern, re.MULTILINE).sub(replacement, "")
    except (re.error, OverflowError, RecursionError, IndexError) as error:
        return str(error) or type(error).__name__
    return ""
