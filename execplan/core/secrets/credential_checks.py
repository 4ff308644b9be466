"""Checks of whether the value in a match of a credential pattern is a secret."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable
from itertools import islice
from typing import Final

from execplan.core.secrets.secret_names import (
    PASSWORD,
    SECRET,
    SERVICE,
    classify_name,
    compile_pattern,
    is_placeholder,
    is_secret,
)


def is_real_value(match: re.Match[str], value: str) -> bool:
    """Return whether a value is not a placeholder."""
    return not is_placeholder(value)


def is_rule_match(match: re.Match[str], value: str) -> bool:
    """Return whether a match of the rule table is not a placeholder and does not start inside a word."""
    if match.start() != match.start("s"):
        return not is_placeholder(value)
    char_before = match.string[max(match.start() - 1, 0) : match.start()]
    return not char_before.isalnum() and not is_placeholder(value)


def is_password_word(match: re.Match[str], value: str) -> bool:
    """Return whether a command-line word is a password: any word that is not a placeholder or a reference."""
    return is_secret(value, PASSWORD, is_quoted=match["s"] is None, is_config=True)


def is_quoted_password(match: re.Match[str], value: str) -> bool:
    """Return whether a value in quotes is a password."""
    return is_secret(value, PASSWORD, is_quoted=True, is_config=True)


def is_quoted_word(match: re.Match[str], value: str) -> bool:
    """Return whether a value in quotes is a secret: a single word."""
    return " " not in value and is_secret(value, SECRET, is_quoted=True, is_config=True)


def is_defined_value(match: re.Match[str], value: str) -> bool:
    """Return whether the value of a C macro is a secret, by its name."""
    kind = classify_name(match["n"])
    return bool(kind) and is_secret(value, kind, is_quoted=match["s"] is None, is_config=False)


def is_option_value(match: re.Match[str], value: str) -> bool:
    """Return whether the value of an option with the name of a secret is a secret."""
    name_kind, is_quoted = classify_name(match["n"]), match["s"] is None
    char_before = match.string[max(match.start() - 1, 0) : match.start()]
    if (
        not name_kind
        or not (not char_before or char_before.isspace() or char_before in "\"'`([")
        or (value.isupper() and value.isalpha())
        or value[0] in "-["
    ):
        return False
    return is_secret(value, name_kind, is_quoted=is_quoted, is_config=name_kind == PASSWORD)


def is_named_value(match: re.Match[str], value: str) -> bool:
    """Return whether a value in quotes or in an element, next to its name, is a secret."""
    name_kind = classify_name(match["n"])
    return bool(name_kind) and is_secret(value, name_kind, is_quoted=True, is_config=True)


def is_random_named_value(match: re.Match[str], value: str) -> bool:
    """Return whether a value next to its name is random, for places where other names or descriptions are common."""
    name_kind = classify_name(match["n"])
    bare_value = value.strip("`*\"' ")
    return (
        bool(name_kind)
        and " " not in bare_value
        and is_secret(bare_value, SERVICE if name_kind == SERVICE else SECRET, is_quoted=False, is_config=False)
    )


def is_call_argument(match: re.Match[str], value: str) -> bool:
    """Return whether an argument after a name is a secret.

    In a call that reads or writes a setting, any value counts; in other calls, only a random one.
    """
    prefix = match.string[max(match.start() - 40, 0) : match.start()]
    if compile_pattern(_SETTING_CALL).search(prefix):
        return is_named_value(match, value)
    return is_random_named_value(match, value)


_SETTING_CALL: Final = r"(?i)(?:define|getenv|env|\.get|getproperty|setproperty|putenv|setdefault|fetch|\.set|\.put)[ \t]{0,2}\([ \t]{0,4}$"


def is_variable_value(match: re.Match[str], value: str) -> bool:
    """Return whether the value of a variable, set by a command that takes it as a separate word, is a secret."""
    name_kind = classify_name(match["n"])
    return bool(name_kind) and is_secret(value, name_kind, is_quoted=match["s"] is None, is_config=True)


def is_login(match: re.Match[str], value: str) -> bool:
    """Return whether the password of a URL is a secret."""
    name = match["u"]
    return value != name and is_secret(value, PASSWORD, is_quoted=True, is_config=True) and not value.startswith("$")


def is_user_token(match: re.Match[str], value: str) -> bool:
    """Return whether the text in place of a URL's user and password is a token; the key of a Sentry DSN is public."""
    if compile_pattern(_SENTRY_HOST).match(match.string, match.end()):
        return False
    return len(value) >= 16 and is_secret(value, SERVICE, is_quoted=True, is_config=True)


_SENTRY_HOST: Final = r"(?:[\w-]{1,40}\.){0,3}sentry\.io/\d"


def is_curl_password(match: re.Match[str], value: str) -> bool:
    """Return whether the value is the password in a `user:password` option of a download program."""
    user_names = (match["u"], match["u1"], match["u2"])
    return (
        value not in user_names
        and compile_pattern(_FETCH_PROGRAMS).search(_command_prefix(match)) is not None
        and is_password_word(match, value)
    )


_FETCH_PROGRAMS: Final = r"\b(?:curl|https?|wget|xh)\b"
_MAX_COMMAND: Final = 300
_MAX_PROGRAMS: Final = 8
"""Maximum number of program names to try in the command before an option; `_MAX_COMMAND` limits its characters."""


def _command_prefix(match: re.Match[str]) -> str:
    """Return the part of a command before its option."""
    prefix = match.string[max(match.start() - _MAX_COMMAND, 0) : match.start()].replace("\\\n", " ")
    command_start = max(prefix.rfind("\n"), prefix.rfind("|"), prefix.rfind(";"))
    return prefix[command_start + 1 :]


def make_option_check(program_pattern: str) -> Callable[[re.Match[str], str], bool]:
    """Return a check that accepts a password option only if it belongs to a program."""

    def is_program_option(match: re.Match[str], value: str) -> bool:
        prefix = _command_prefix(match)
        for program_match in islice(compile_pattern(program_pattern).finditer(prefix), _MAX_PROGRAMS):
            if program_match.start() == 0 or prefix[program_match.start() - 1] in _PROGRAM_BOUNDARIES:
                return is_password_word(match, value)
        return False

    return is_program_option


_PROGRAM_BOUNDARIES: Final = " \t/;&(`\"'$"
"""Characters that may precede the name of a program."""


def is_bearer(match: re.Match[str], value: str) -> bool:
    """Return whether a value after `Bearer` or `Basic` is a credential."""
    if match["scheme"].lower() == "basic":
        return is_basic_credentials(value)
    return is_secret(value, SECRET, is_quoted=False, is_config=False) and any([char.isdigit() for char in value])


def is_header(match: re.Match[str], value: str) -> bool:
    """Return whether the value of a header is a credential."""
    if is_placeholder(value) or value.startswith(("redacted_", "[")):
        return False
    return "=" in value or any([char.isdigit() for char in value]) or is_basic_credentials(value)


def is_cookie(match: re.Match[str], value: str) -> bool:
    """Return whether the cookies of a request or a response are secret."""
    return "=" in value and any([char.isdigit() for char in value]) and not is_placeholder(value)


def is_password_line(match: re.Match[str], value: str) -> bool:
    """Return whether X is a password in `password X` on its own line, or after `machine`."""
    is_netrc = match["lead"] is not None and "login" in match["lead"]
    return is_secret(value, PASSWORD, is_quoted=False, is_config=is_netrc or any([char.isdigit() for char in value]))


def is_stated_secret(match: re.Match[str], value: str) -> bool:
    """Return whether X is a secret in `the password is X`."""
    if match["s"] is None:
        return is_secret(value, PASSWORD if "pass" in match["n"].lower() else SECRET, is_quoted=True, is_config=True)
    return any([char.isdigit() for char in value]) and is_secret(value, SECRET, is_quoted=False, is_config=False)


def is_basic_credentials(value: str) -> bool:
    """Return whether a value is base64 of `name:password`."""
    try:
        return b":" in b64decode(value.rstrip("=") + "=" * (-len(value.rstrip("=")) % 4), validate=True)
    except ValueError:
        return False
