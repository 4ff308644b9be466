"""An object of another system's document, read key by key, so that nothing in it is overlooked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from execplan.execution.documents.rules_record import GRACE, in_the_future
from execplan.execution.documents.violation import Violation, pointer

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORDS: Final = {
    str: "a string",
    int: "an integer",
    bool: "true or false",
    dict: "an object",
    list: "an array",
    float: "a number",
}


class Book:
    """What is wrong with a document, and where the fields of ours come from."""

    def __init__(self, now: float) -> None:
        self.now = now
        """Seconds since 1970."""
        self.violations: list[Violation] = []
        self.origins: dict[str, str] = {}
        """Their pointer by ours; what lies below goes along."""

    def note(self, where: str, message: str) -> None:
        """Write down what is wrong."""
        self.violations.append(Violation(where, message))

    def translated(self, found: Violation) -> Violation:
        """A violation of our document with the pointer into theirs."""
        ours = found.pointer
        while ours and ours not in self.origins:
            ours = ours.rpartition("/")[0]
        theirs = self.origins.get(ours)
        return found if theirs is None else Violation(theirs + found.pointer[len(ours) :], found.message)


class Form:
    """One object; its keys may be written in camelCase or in snake_case."""

    def __init__(self, value: dict[str, Any], where: str, book: Book) -> None:
        self.value = value
        self.where = where
        self.book = book
        self.taken: set[str] = set()

    def place(self, name: str) -> str:
        """The pointer of a key, as it is written here."""
        return self.where + pointer((_key(self.value, name) or name,))

    def note(self, name: str, message: str) -> None:
        """Write down what is wrong with the value of a key."""
        self.book.note(self.place(name), message)

    def take(self, name: str, kind: type, default: Any = None, *, needed: bool = False) -> Any:
        """The value of a key; the default where it is absent, null, or of another kind, which is a violation."""
        both = [each for each in dict.fromkeys((name, _camel(name))) if each in self.value]
        self.taken.update(both)
        if len(both) > 1:
            self.book.note(self.where + pointer((both[1],)), f"{both[0]} says the same")
        value = self.value[both[0]] if both else None
        if value is None:
            if needed:
                self.note(name, "missing")
            return default
        if _is(value, kind):
            return value
        self.note(name, f"should be {_WORDS[kind]}")
        return default

    def words(self, name: str) -> list[str]:
        """The strings of an array."""
        values = self.take(name, list, [])
        wrong = [at for at, each in enumerate(values) if not isinstance(each, str)]
        for at in wrong:
            self.book.note(f"{self.place(name)}/{at}", "should be a string")
        return [] if wrong else values

    def forms(self, name: str, *, needed: bool = False) -> list[Form]:
        """The objects of an array."""
        values = self.take(name, list, [], needed=needed)
        found = []
        for at, each in enumerate(values):
            where = f"{self.place(name)}/{at}"
            if isinstance(each, dict):
                found.append(Form(each, where, self.book))
            else:
                self.book.note(where, "should be an object")
        return found

    def form(self, name: str, *, needed: bool = False) -> Form:
        """The object of a key; an empty one where it is absent."""
        return Form(self.take(name, dict, {}, needed=needed), self.place(name), self.book)

    def moment(self, name: str) -> Any:
        """A time, as text or in seconds since 1970, which must not lie in the future."""
        self.taken.update((name, _camel(name)))
        value = self.value.get(_key(self.value, name) or name)
        if isinstance(value, str):
            if _no_time(value):
                self.note(name, "is no time")
            elif in_the_future(value, self.book.now):
                self.note(name, f"{value} is in the future")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            if value > self.book.now + GRACE:
                self.note(name, f"{value} is in the future")
        elif value is not None:
            self.note(name, "should be a time")
        return value

    def pending(self, name: str = "status") -> None:
        """Refuse a status that says that something has begun."""
        status = self.take(name, str, "pending")
        if status != "pending":
            self.note(name, f"is {status}: what has begun can't be imported, only what is pending")

    def nothing(self, *names: str, why: str) -> None:
        """Refuse values that can't be carried; null is none."""
        for name in names:
            self.taken.update((name, _camel(name)))
            key = _key(self.value, name)
            if key is not None and self.value[key] not in (None, [], {}):
                self.note(name, why)

    def close(self) -> None:
        """Refuse every key that nobody took."""
        for name in _unknown(self):
            self.book.note(self.where + pointer((name,)), "unknown key; what it says can't be carried")


def _unknown(form: Form) -> Iterator[str]:
    return (name for name in form.value if name not in form.taken)


def _key(value: dict[str, Any], name: str) -> str | None:
    """A name as it is written in an object, or None."""
    return next((each for each in (name, _camel(name)) if each in value), None)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join([each.capitalize() for each in rest])


def _is(value: object, kind: type) -> bool:
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _no_time(said: str) -> bool:
    from datetime import datetime

    try:
        datetime.fromisoformat(said)
    except ValueError:
        return True
    return False
