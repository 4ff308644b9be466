"""A lightweight `NamedTuple` without imports: typing and collections would double the linter's startup time.

For type checkers it is `typing.NamedTuple`; at run time it is the class below.
"""

from __future__ import annotations

__all__ = ["NamedTuple"]

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from _collections import _tuplegetter as getter

    class _NamedTupleMeta(type):
        def __new__(metacls, name, bases, namespace):
            if not bases:
                return super().__new__(metacls, name, bases, namespace)
            fields = tuple(namespace.get("__annotations__", ()))
            namespace["_defaults"] = {field: namespace.pop(field) for field in fields if field in namespace}
            namespace.update({field: getter(index, field) for index, field in enumerate(fields)})
            namespace.update(__slots__=(), _fields=fields, __match_args__=fields, _make=classmethod(tuple.__new__))
            namespace.update(__new__=_new, __repr__=_repr, _replace=_replace, _asdict=_asdict)
            return type(name, (tuple,), namespace)

    def _new(cls, *args, **kwargs):
        missing = len(cls._fields) - len(args)
        if kwargs or not 0 <= missing <= len(cls._defaults):
            args = _complete_args(cls, args, kwargs)
        elif missing:
            args += tuple(cls._defaults.values())[-missing:]
        return tuple.__new__(cls, args)

    def _complete_args(cls, args, kwargs):
        values = cls._defaults | dict(zip(cls._fields, args, strict=False)) | kwargs
        if (
            len(args) > len(cls._fields)
            or values.keys() != set(cls._fields)
            or kwargs.keys() & cls._fields[: len(args)]
        ):
            raise TypeError(f"{cls.__name__} takes {', '.join(cls._fields)}")
        return [values[field] for field in cls._fields]

    def _repr(self):
        fields_text = ", ".join(f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True))
        return f"{type(self).__name__}({fields_text})"

    def _asdict(self):
        return dict(zip(self._fields, self, strict=True))

    def _replace(self, **changes):
        values = [changes.pop(field, value) for field, value in zip(self._fields, self, strict=True)]
        if changes:
            raise TypeError(f"{type(self).__name__} has no {', '.join(changes)}")
        return tuple.__new__(type(self), values)

    class NamedTuple(metaclass=_NamedTupleMeta):
        """The base class of the records in the lower layers."""
