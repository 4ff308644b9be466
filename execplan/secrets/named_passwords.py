"""Passwords that are too short to be told by their length: what is given to a name of one, in the ways in which it is given."""

from __future__ import annotations

from execplan.secrets.service_tokens import LOCAL_HOSTS, Secret, is_random, is_strong

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_AZURE_NEEDLE, _USER_NEEDLE = "AccountKey=", " -u "
_EMULATOR_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq"
"""The key of a storage that runs on one's own machine, which all have."""
_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_VALUE_ENDS = frozenset(" \t\n\r\"'`,;|&\\")
_MIN_NAMED, _MIN_TYPED, _MIN_KEY = 12, 8, 40
"""The least characters of a value behind a name, of one behind `-u`, and of a key."""
_MAX_LENGTH = 200


def find_passwords(source: str, needles: tuple[str, ...]) -> Iterator[Secret]:
    """Every value that is given as a password behind one of the needles, and looks like one."""
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
    """What stands behind a name and `=` or `:`."""
    start = index
    while start < len(source) and start - index < 8 and source[start] in " \"'`*:=":
        start += 1
    operator = source[index:start]
    end = _value_end(source, start)
    if (":" in operator or "=" in operator) and "==" not in operator and is_strong(source[start:end], _MIN_NAMED):
        yield Secret("password", start, end)


def _curl_password(source: str, index: int) -> Iterator[Secret]:
    """The password of `curl -u name:password`, unless it is for a service on the same machine."""
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
    """The key in a connection string of Azure."""
    end = index
    while end < len(source) and end - index < _MAX_LENGTH and source[end] in _BASE64:
        end += 1
    if end - index >= _MIN_KEY and is_random(source[index:end]) and not source.startswith(_EMULATOR_KEY, index):
        while source[end : end + 1] == "=":
            end += 1
        yield Secret("Azure storage key", index, end)


def _value_end(source: str, index: int) -> int:
    """Where a value ends, without what closes a sentence."""
    end = index
    while end < len(source) and end - index < _MAX_LENGTH and source[end] not in _VALUE_ENDS:
        end += 1
    while end > index and source[end - 1] in ".:)":
        end -= 1
    return end
