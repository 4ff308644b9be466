"""Passwords that are too short to be told by their length: what is given to a name of one, in the ways in which it is given."""

from __future__ import annotations

from execplan.text.tokens import LOCAL, Secret, is_random, is_strong

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_AZURE, _USER = "AccountKey=", " -u "
_EMULATOR = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq"
"""The key of a storage that runs on one's own machine, which all have."""
_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_ENDS = frozenset(" \t\n\r\"'`,;|&\\")
_NAMED, _TYPED, _KEY = 12, 8, 40
"""The least characters of a value behind a name, of one behind `-u`, and of a key."""
_MOST = 200


def passwords(source: str, needles: tuple[str, ...]) -> Iterator[Secret]:
    """Every value that is given as a password behind one of the needles, and looks like one."""
    for needle in needles:
        at = source.find(needle)
        while at >= 0:
            end = at + len(needle)
            if needle == _AZURE:
                yield from _account_key(source, end)
            elif needle == _USER:
                yield from _of_user(source, end)
            else:
                yield from _named(source, end)
            at = source.find(needle, end)


def _named(source: str, at: int) -> Iterator[Secret]:
    """What stands behind a name and `=` or `:`."""
    start = at
    while start < len(source) and start - at < 8 and source[start] in " \"'`*:=":
        start += 1
    joint = source[at:start]
    end = _end(source, start)
    if (":" in joint or "=" in joint) and "==" not in joint and is_strong(source[start:end], _NAMED):
        yield Secret("password", start, end)


def _of_user(source: str, at: int) -> Iterator[Secret]:
    """The password of `curl -u name:password`, unless it is for a service on the same machine."""
    begin = source.rfind("\n", max(at - _MOST, 0), at) + 1 or max(at - _MOST, 0)
    stop = source.find("\n", at, at + _MOST)
    line = source[begin : stop if stop >= 0 else at + _MOST]
    if "curl" not in line or any([local in line for local in LOCAL]):
        return
    at += source[at : at + 1] in ("'", '"')
    end = _end(source, at)
    name, colon, value = source[at:end].partition(":")
    if colon and value != name and is_strong(value, _TYPED):
        yield Secret("password", at + len(name) + 1, end)


def _account_key(source: str, at: int) -> Iterator[Secret]:
    """The key in a connection string of Azure."""
    end = at
    while end < len(source) and end - at < _MOST and source[end] in _BASE64:
        end += 1
    if end - at >= _KEY and is_random(source[at:end]) and not source.startswith(_EMULATOR, at):
        while source[end : end + 1] == "=":
            end += 1
        yield Secret("Azure storage key", at, end)


def _end(source: str, at: int) -> int:
    """Where a value ends, without what closes a sentence."""
    end = at
    while end < len(source) and end - at < _MOST and source[end] not in _ENDS:
        end += 1
    while end > at and source[end - 1] in ".:)":
        end -= 1
    return end
