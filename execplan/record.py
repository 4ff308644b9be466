"""A named tuple whose import costs nothing: typing and collections double the start of the linter.

Where a type checker reads, this is `typing.NamedTuple`; where Python runs, it is the class below.
"""

from __future__ import annotations

__all__ = ["NamedTuple"]

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from _collections import _tuplegetter as getter

    class _Maker(type):
        def __new__(mcs, name, bases, space):
            if not bases:
                return super().__new__(mcs, name, bases, space)
            fields = tuple(space.get("__annotations__", ()))
            space["_defaults"] = {field: space.pop(field) for field in fields if field in space}
            space.update({field: getter(index, field) for index, field in enumerate(fields)})
            space.update(__slots__=(), _fields=fields, __match_args__=fields, _make=classmethod(tuple.__new__))
            space.update(__new__=_new, __repr__=_repr, _replace=_replace, _asdict=_asdict)
            return type(name, (tuple,), space)

    def _new(cls, *given, **named):
        if named or len(given) != len(cls._fields):
            given = _completed(cls, given, named)
        return tuple.__new__(cls, given)

    def _completed(cls, given, named):
        values = cls._defaults | dict(zip(cls._fields, given, strict=False)) | named
        if (
            len(given) > len(cls._fields)
            or values.keys() != set(cls._fields)
            or named.keys() & cls._fields[: len(given)]
        ):
            raise TypeError(f"{cls.__name__} takes {', '.join(cls._fields)}")
        return [values[field] for field in cls._fields]

    def _repr(self):
        shown = ", ".join(f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True))
        return f"{type(self).__name__}({shown})"

    def _asdict(self):
        return dict(zip(self._fields, self, strict=True))

    def _replace(self, **changed):
        return type(self)(**(self._asdict() | changed))

    class NamedTuple(metaclass=_Maker):
        """The base class of every record of the lower floors."""
