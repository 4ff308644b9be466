"""Whether what was found in a structure is a secret: each check gets the match and the value that is in it."""

from __future__ import annotations

import re
from base64 import b64decode
from itertools import islice
from typing import Final

from execplan.text.patterns import compiled
from execplan.text.secret_names import kind
from execplan.text.secret_values import PASSWORD, SECRET, SERVICE, is_placeholder, is_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def is_no_placeholder(match: re.Match[str], value: str) -> bool:
    """Whether a value stands for nothing else."""
    return not is_placeholder(value)


def is_shape(match: re.Match[str], value: str) -> bool:
    """A shape of the table of rules that is not in the middle of a word."""
    if match.start() != match.start("s"):
        return not is_placeholder(value)
    lead = match.string[max(match.start() - 1, 0) : match.start()]
    return not lead.isalnum() and not is_placeholder(value)


def is_password_word(match: re.Match[str], value: str) -> bool:
    """A password on a command line: any word that stands for nothing else."""
    return is_secret(value, PASSWORD, quoted=match["s"] is None, config=True)


def is_option_value(match: re.Match[str], value: str) -> bool:
    """The value of an option with the name of a secret."""
    found, quoted = kind(match["n"]), match["s"] is None
    lead = match.string[max(match.start() - 1, 0) : match.start()]
    if (
        not found
        or not (not lead or lead.isspace() or lead in "\"'`([")
        or (value.isupper() and value.isalpha())
        or value[0] in "-["
    ):
        return False
    return is_secret(value, found, quoted=quoted, config=found == PASSWORD)


def is_named_value(match: re.Match[str], value: str) -> bool:
    """A value in quotes or in an element, beside its name."""
    found = kind(match["n"])
    return bool(found) and is_secret(value, found, quoted=True, config=True)


def is_random_named_value(match: re.Match[str], value: str) -> bool:
    """The same where what is beside a name is often another name, or words about it."""
    found = kind(match["n"])
    bare = value.strip("`*\"' ")
    return (
        bool(found)
        and " " not in bare
        and is_secret(bare, SERVICE if found == SERVICE else SECRET, quoted=False, config=False)
    )


def is_argument(match: re.Match[str], value: str) -> bool:
    """A value beside its name among the arguments of a call: of one that sets or reads a setting, any; of others a random one."""
    lead = match.string[max(match.start() - 40, 0) : match.start()]
    return is_named_value(match, value) if compiled(_CALL).search(lead) else is_random_named_value(match, value)


_CALL: Final = r"(?i)(?:define|getenv|env|\.get|getproperty|setproperty|putenv|setdefault|fetch|\.set|\.put)[ \t]{0,2}\([ \t]{0,4}$"


def is_variable_value(match: re.Match[str], value: str) -> bool:
    """A variable set by a command that takes its value as a word of its own."""
    found = kind(match["n"])
    return bool(found) and is_secret(value, found, quoted=match["s"] is None, config=True)


def is_login(match: re.Match[str], value: str) -> bool:
    """The password of an address."""
    name = match["u"]
    return value != name and is_secret(value, PASSWORD, quoted=True, config=True) and not value.startswith("$")


def is_user_token(match: re.Match[str], value: str) -> bool:
    """What is in an address in place of a user and a password."""
    return len(value) >= 16 and is_secret(value, SERVICE, quoted=True, config=True)


def is_curl_password(match: re.Match[str], value: str) -> bool:
    """`user:password` of an option of a program that fetches."""
    users = (match["u"], match["u1"], match["u2"])
    return (
        value not in users and compiled(_FETCHES).search(_before(match)) is not None and is_password_word(match, value)
    )


_FETCHES: Final = r"\b(?:curl|https?|wget|xh)\b"
_COMMAND: Final = 300
_TRIES: Final = 8
"""Characters of a command before an option."""


def _before(match: re.Match[str]) -> str:
    """The command that an option belongs to, as far as it is before the option."""
    lead = match.string[max(match.start() - _COMMAND, 0) : match.start()].replace("\\\n", " ")
    begin = max(lead.rfind("\n"), lead.rfind("|"), lead.rfind(";"))
    return lead[begin + 1 :]


def option_of(program: str) -> Callable[[re.Match[str], str], bool]:
    """A check of a password given to an option: whether the option belongs to a program."""

    def is_option(match: re.Match[str], value: str) -> bool:
        lead = _before(match)
        for found in islice(compiled(program).finditer(lead), _TRIES):
            if found.start() == 0 or lead[found.start() - 1] in _BREAKS:
                return is_password_word(match, value)
        return False

    return is_option


_BREAKS: Final = " \t/;&(`\"'$"
"""What is before the name of a program."""


def is_bearer(match: re.Match[str], value: str) -> bool:
    """A value after `Bearer` or `Basic`."""
    if match["scheme"].lower() == "basic":
        return is_basic_credentials(value)
    return is_secret(value, SECRET, quoted=False, config=False) and any([char.isdigit() for char in value])


def is_header(match: re.Match[str], value: str) -> bool:
    """The credentials of a header."""
    if is_placeholder(value) or value.startswith(("redacted_", "[")):
        return False
    return "=" in value or any([char.isdigit() for char in value]) or is_basic_credentials(value)


def is_cookie(match: re.Match[str], value: str) -> bool:
    """The cookies of a request or a response."""
    return "=" in value and any([char.isdigit() for char in value]) and not is_placeholder(value)


def is_password_line(match: re.Match[str], value: str) -> bool:
    """`password X` on a line of its own, or behind `machine`."""
    is_netrc = match["lead"] is not None and "login" in match["lead"]
    return is_secret(value, PASSWORD, quoted=False, config=is_netrc or any([char.isdigit() for char in value]))


def is_stated(match: re.Match[str], value: str) -> bool:
    """`the password is X`."""
    if match["s"] is None:
        return is_secret(value, PASSWORD if "pass" in match["n"].lower() else SECRET, quoted=True, config=True)
    return any([char.isdigit() for char in value]) and is_secret(value, SECRET, quoted=False, config=False)


def is_basic_credentials(value: str) -> bool:
    """Whether it is base64 of `name:password`."""
    try:
        return b":" in b64decode(value.rstrip("=") + "=" * (-len(value.rstrip("=")) % 4), validate=True)
    except ValueError:
        return False
