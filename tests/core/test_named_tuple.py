"""The stand-in for typing.NamedTuple behaves as it does."""

from __future__ import annotations

import typing

import pytest

from execplan.core.named_tuple import NamedTuple


class PackageRecord(NamedTuple):
    """A record."""

    one: int
    two: str = "b"

    @property
    def both(self) -> str:
        """Of both."""
        return f"{self.one}{self.two}"


class TypingRecord(typing.NamedTuple):
    """The same record."""

    one: int
    two: str = "b"

    @property
    def both(self) -> str:
        """Of both."""
        return f"{self.one}{self.two}"


@pytest.mark.parametrize("kind", [PackageRecord, TypingRecord])
def test_record(kind: type[PackageRecord]) -> None:
    record = kind(1)
    assert record == kind(1, "b") == kind(one=1, two="b") == kind(1, two="b") == (1, "b")
    assert (record.one, record.two, record.both) == (1, "b", "1b")
    assert record._replace(two="c") == (1, "c")
    assert record._asdict() == {"one": 1, "two": "b"}
    assert record._fields == ("one", "two")
    assert kind._make([3, "d"]) == (3, "d")
    assert repr(record) == f"{kind.__name__}(one=1, two='b')"
    first, second = record
    assert (first, second) == (1, "b")
    with pytest.raises(AttributeError):
        record.one = 2  # type: ignore[misc]  # that it can't be set is what is tested


@pytest.mark.parametrize("kind", [PackageRecord, TypingRecord])
@pytest.mark.parametrize(("given", "named"), [((), {}), ((1, "b", 3), {}), ((1,), {"one": 2}), ((1,), {"three": 3})])
def test_wrong_fields(kind: type[PackageRecord], given: tuple[typing.Any, ...], named: dict[str, typing.Any]) -> None:
    with pytest.raises(TypeError):
        kind(*given, **named)
