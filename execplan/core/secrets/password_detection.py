"""Detection of certain passwords: after names and options, in URLs of remote services, and random values with names.

Like `service_tokens`, this module uses no regular expressions.
"""

from __future__ import annotations

from execplan.core.secrets.service_tokens import Secret, is_random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_AZURE_NEEDLE, _USER_NEEDLE = "AccountKey=", " -u "
_EMULATOR_ACCOUNT = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq"
"""Public key of Azure's local storage emulator, which is the same for all users."""
_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_VALUE_ENDS = frozenset(" \t\n\r\"'`,;|&\\")
_MIN_NAMED, _MIN_TYPED, _MIN_KEY = 12, 8, 40
"""Minimum lengths of a value after a name, of one after `-u`, and of a storage key."""
_MIN_WEBHOOK = 20
"""Minimum length of the last part of a webhook's address."""
_MAX_LENGTH = 200
_MAX_WIDTH = 4096
_SECRET_NAMES = (
    "password",
    "passwd",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "authkey",
    "bearer",
)
"""Last parts of names, without separators, whose random values are certainly secrets."""
_CODE_CHARS = frozenset("<>{}()[]$./_*…")
"""Characters that occur in paths, names in code and placeholders."""
_WEAK_PARTS = ("passw", "changeme", "secret")
_LOCAL_HOSTS = ("localhost", "127.", "0.0.0.0", "host.docker", "example.")  # noqa: S104 - a host that is named, not bound


def find_passwords(source: str, needles: tuple[str, ...]) -> Iterator[Secret]:
    """Yield every value after one of the needles that is given as a password and looks like one."""
    for needle in needles:
        index = source.find(needle)
        while index >= 0:
            end = index + len(needle)
            if needle == _AZURE_NEEDLE:
                yield from _azure_account_key(source, end)
            elif needle == _USER_NEEDLE:
                yield from _curl_password(source, end)
            else:
                yield from _password_after_name(source, end)
            index = source.find(needle, end)


def _password_after_name(source: str, index: int) -> Iterator[Secret]:
    """Yield the strong value after a name and `=` or `:`."""
    start = index
    while start < len(source) and start - index < 8 and source[start] in " \"'`*:=":
        start += 1
    operator = source[index:start]
    end = _value_end(source, start)
    if (":" in operator or "=" in operator) and "==" not in operator and _is_strong(source[start:end], _MIN_NAMED):
        yield Secret("password", start, end)


def _curl_password(source: str, index: int) -> Iterator[Secret]:
    """Yield the password of `curl -u name:password`, unless it is for a service on the same machine."""
    line_start = source.rfind("\n", max(index - _MAX_LENGTH, 0), index) + 1 or max(index - _MAX_LENGTH, 0)
    line_end = source.find("\n", index, index + _MAX_LENGTH)
    line = source[line_start : line_end if line_end >= 0 else index + _MAX_LENGTH]
    if "curl" not in line or any([local in line for local in _LOCAL_HOSTS]):
        return
    index += source[index : index + 1] in ("'", '"')
    end = _value_end(source, index)
    name, colon, value = source[index:end].partition(":")
    if colon and value != name and _is_strong(value, _MIN_TYPED):
        yield Secret("password", index + len(name) + 1, end)


def _azure_account_key(source: str, index: int) -> Iterator[Secret]:
    """Yield the key in an Azure connection string."""
    end = index
    while end < len(source) and end - index < _MAX_LENGTH and source[end] in _BASE64:
        end += 1
    if end - index >= _MIN_KEY and is_random(source[index:end]) and not source.startswith(_EMULATOR_ACCOUNT, index):
        while source[end : end + 1] == "=":
            end += 1
        yield Secret("Azure storage key", index, end)


def _value_end(source: str, index: int) -> int:
    """Return the end of a value, without punctuation that ends a sentence."""
    end = index
    while end < len(source) and end - index < _MAX_LENGTH and source[end] not in _VALUE_ENDS:
        end += 1
    while end > index and source[end - 1] in ".:)":
        end -= 1
    return end


def _is_strong(value: str, min_length: int) -> bool:
    """Return whether a value is long enough, has uppercase, lowercase and digits, and is not code or an example."""
    if len(value) < min_length or not value.isascii() or not is_random(value) or not _CODE_CHARS.isdisjoint(value):
        return False
    is_mixed = any([char.islower() for char in value]) and any([char.isupper() for char in value])
    digit_count = sum([char.isdigit() for char in value])
    return is_mixed and digit_count > 1 and not any([weak_part in value.lower() for weak_part in _WEAK_PARTS])


def find_url_passwords(source: str) -> Iterator[Secret]:
    """Yield passwords in URLs of remote services: `scheme://name:password@host.of.it`."""
    index = source.find("://")
    while index >= 0:
        login_start = index + 3
        at_sign = source.find("@", login_start, login_start + 200)
        login = source[login_start:at_sign] if at_sign >= 0 else ""
        name, colon, password = login.partition(":")
        if colon and name.isascii() and not any([char in " \n/<>{}$()[]`\"'*" for char in login]):
            host = source[at_sign + 1 : at_sign + 80].split("/", maxsplit=1)[0].split()
            is_remote = bool(host) and password != name and not any([local in host[0] for local in _LOCAL_HOSTS])
            is_public_host = is_remote and "." in host[0]
            if (is_remote and _is_strong(password, 12)) or (
                is_public_host and len(password) >= 8 and is_random(password)
            ):
                yield Secret("password", login_start + len(name) + 1, at_sign)
        index = source.find("://", login_start)


def find_webhooks(source: str, host: str) -> Iterator[Secret]:
    """Yield the secret part of addresses to which anybody can post messages: three parts, the last one random."""
    index = source.find(host)
    while index >= 0:
        start = index + len(host)
        end = start
        while end < min(len(source), start + _MAX_LENGTH) and (source[end].isalnum() or source[end] == "/"):
            end += 1
        parts = source[start:end].split("/")
        if len(parts) == 3 and len(parts[2]) >= _MIN_WEBHOOK and is_random(parts[2]):
            yield Secret("Slack webhook", start, end)
        index = source.find(host, start)


def find_named_values(source: str, runs: Iterable[tuple[int, int]]) -> Iterator[Secret]:
    """Yield random values assigned to names of secrets, at the given runs of letters and digits."""
    previous_end = 0
    for run_start, run_end in runs:
        if run_start < previous_end:
            continue
        token_start, token_end = _token_span(source, run_start, run_end, previous_end)
        secret = _named_value(source, token_start, token_end)
        if secret is not None:
            yield secret
        previous_end = token_end


def _token_span(source: str, start: int, end: int, lower_limit: int) -> tuple[int, int]:
    """Return the span of the token that contains a run of letters and digits."""
    run_start = start
    while (
        start > lower_limit
        and run_start - start < _MAX_WIDTH
        and (source[start - 1].isalnum() or source[start - 1] in "_-.")
    ):
        start -= 1
    while end < len(source) and end - run_start < _MAX_WIDTH and (source[end].isalnum() or source[end] in "_-."):
        end += 1
    while source[end - 1] in "-.":
        end -= 1
    return start, end


def _named_value(source: str, start: int, end: int) -> Secret | None:
    """Return the value at a span if it is random and assigned to the name of a secret, or None."""
    value = source[start:end]
    if "." in value or "_" in value or not is_random(value):
        return None
    prefix = source[max(start - 40, 0) : start].rsplit("\n", maxsplit=1)[-1]
    name = prefix.rstrip(" \"'`:=")
    operator = prefix[len(name) :]
    bare_name = name.lower().replace("_", "").replace("-", "")
    if not bare_name.endswith(_SECRET_NAMES) or not (
        ":" in operator or "=" in operator or (bare_name.endswith("bearer") and operator == " ")
    ):
        return None
    case_count = any([char.islower() for char in value]) + any([char.isupper() for char in value])
    is_hex = len(value) >= 32 and not value.lower().strip("0123456789abcdef")
    if (case_count == 2 and sum([char.isdigit() for char in value]) >= 2) or is_hex:
        return Secret("secret", start, end)
    return None
