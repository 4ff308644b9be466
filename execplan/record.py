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
            defaults = {field: space.pop(field) for field in fields if field in space}
            first = len(fields) - len(defaults)
            signature = ", ".join(fields[:first] + tuple(f"{field}=_d[{field!r}]" for field in fields[first:]))
            scope = {"_d": defaults, "_t": tuple.__new__}
            space["__new__"] = eval(f"lambda _c, {signature}: _t(_c, ({', '.join(fields)},))", scope)
            space.update({field: getter(index, field) for index, field in enumerate(fields)})
            space.update(__slots__=(), _fields=fields, __match_args__=fields, __repr__=_repr, _replace=_replace)
            space["_asdict"] = lambda self: dict(zip(self._fields, self, strict=True))
            space["_make"] = classmethod(tuple.__new__)
            return type(name, (tuple,), space)

    def _repr(self):
        shown = ", ".join(f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True))
        return f"{type(self).__name__}({shown})"

    def _replace(self, **changed):
        return type(self)(**(self._asdict() | changed))

    class NamedTuple(metaclass=_Maker):
        """The base class of every record of the lower floors."""
