"""Detection of passwords too short to recognize by length, from the names and options before them."""

from __future__ import annotations

from execplan.secrets.service_tokens import LOCAL_HOSTS, Secret, is_random, is_strong

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_AZURE_NEEDLE, _USER_NEEDLE = "AccountKey=", " -u "
_EMULATOR_ACCOUNT = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq"
"""Public key of Azure's local storage emulator, which is the same for all users."""
_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_VALUE_ENDS = frozenset(" \t\n\r\"'`,;|&\\")
_MIN_NAMED, _MIN_TYPED, _MIN_KEY = 12, 8, 40
"""Minimum lengths of a value after a name, of one after `-u`, and of a storage key."""
_MAX_LENGTH = 200


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
    if (":" in operator or "=" in operator) and "==" not in operator and is_strong(source[start:end], _MIN_NAMED):
        yield Secret("password", start, end)


def _curl_password(source: str, index: int) -> Iterator[Secret]:
    """Yield the password of `curl -u name:password`, unless it is for a service on the same machine."""
    line_start = source.rfind("\n", max(index - _MAX_LENGTH, 0), index) + 1 or max(index - _MAX_LENGTH, 0)
    line_end = source.find("\n", index, index + _MAX_LENGTH)
    line = source[line_start : line_end if line_end >= 0 else index + _MAX_LENGTH]
    if "curl" not in line or any([local in line for local in LOCAL_HOSTS]):
        return
    index += source[index : index + 1] in ("'", '"')
    end = _value_end(source, index)
    name, colon, value = source[index:end].partition(":")
    if colon and value != name and is_strong(value, _MIN_TYPED):
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
