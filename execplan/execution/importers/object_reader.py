"""Reader for an object of another system's document, key by key, so that no key is overlooked."""

from __future__ import annotations

from typing import Any, Final

from execplan.core.text.violation import Violation, json_pointer
from execplan.execution.attributes import STEP_TYPES
from execplan.execution.documents.document_rules import CLOCK_SKEW_SECONDS, is_in_future

_TYPES_BY_TOOL: Final = {step_fields.tool: kind for kind, step_fields in STEP_TYPES.items() if step_fields.tool}
_COMMON_FIELDS: Final = ("inputs", "outputs", "timeout_s")
_ALIASES: Final = {"path": "target"}
USE_TOOL: Final = "use_tool"


def tool_step_type(tool: str) -> str:
    """Return the step type of a built-in tool, or `use_tool` for an agent's tool."""
    return _TYPES_BY_TOOL.get(tool, USE_TOOL)


def tool_step_fields(
    tool: str, arguments: dict[str, Any], location: str, step_pointer: str, report: ImportReport
) -> dict[str, Any]:
    """Return the fields of the step that calls a tool.

    `location` is the pointer to the arguments, `step_pointer` the pointer to the step in our document.
    """
    kind = tool_step_type(tool)
    if kind == USE_TOOL:
        report.origins[f"{step_pointer}/parameters"] = location
        return {"type": kind, "tool": tool, "parameters": arguments or None}
    allowed, fields = STEP_TYPES[kind], {"type": kind, "tool": tool}
    for name, value in arguments.items():
        field = _ALIASES.get(name, name)
        argument_pointer = location + json_pointer((name,))
        if field not in (*allowed.required, *allowed.optional, *_COMMON_FIELDS):
            report.add_violation(
                argument_pointer, f"{tool} takes {', '.join((*allowed.required, *allowed.optional, *_COMMON_FIELDS))}"
            )
        elif field in fields:
            report.add_violation(argument_pointer, f"{field} is given twice")
        else:
            fields[field] = value
            report.origins[f"{step_pointer}/{field}"] = argument_pointer
    for name in allowed.required:
        report.origins.setdefault(f"{step_pointer}/{name}", location + json_pointer((name,)))
    return fields


_TYPE_NAMES: Final = {
    str: "a string",
    int: "an integer",
    bool: "true or false",
    dict: "an object",
    list: "an array",
    float: "a number",
}


class ImportReport:
    """Violations found during an import, and the origins of the fields of our document."""

    def __init__(self, now: float) -> None:
        self.now = now
        """Current time in seconds since 1970."""
        self.violations: list[Violation] = []
        self.origins: dict[str, str] = {}
        """Pointers in the source document by pointers in ours; nested fields are included."""

    def add_violation(self, location: str, message: str) -> None:
        """Record a violation of the document."""
        self.violations.append(Violation(location, message))

    def translate(self, violation: Violation) -> Violation:
        """Return a violation of our document with the pointer into the source document."""
        our_pointer = violation.pointer
        while our_pointer and our_pointer not in self.origins:
            our_pointer = our_pointer.rpartition("/")[0]
        source_pointer = self.origins.get(our_pointer)
        if source_pointer is None:
            return violation
        return Violation(source_pointer + violation.pointer[len(our_pointer) :], violation.message)


class ObjectReader:
    """Reads one object, with keys in camelCase or snake_case."""

    def __init__(self, value: dict[str, Any], location: str, report: ImportReport) -> None:
        self.value = value
        self.location = location
        self.report = report
        self.used_keys: set[str] = set()

    def pointer_to(self, name: str) -> str:
        """Return the pointer to a key, as spelled in the object."""
        return self.location + json_pointer((_find_key(self.value, name) or name,))

    def add_violation(self, name: str, message: str) -> None:
        """Record a violation in the value of a key."""
        self.report.add_violation(self.pointer_to(name), message)

    def get(self, name: str, kind: type, default: Any = None, *, required: bool = False) -> Any:
        """Return the value of a key.

        Returns the default if the key is absent or null, or if the value has another type, which is a violation.
        """
        present_keys = [key for key in dict.fromkeys((name, _to_camel_case(name))) if key in self.value]
        self.used_keys.update(present_keys)
        if len(present_keys) > 1:
            self.report.add_violation(
                self.location + json_pointer((present_keys[1],)), f"{present_keys[0]} has the same meaning"
            )
        value = self.value[present_keys[0]] if present_keys else None
        if value is None:
            if required:
                self.add_violation(name, "missing")
            return default
        if _has_type(value, kind):
            return value
        self.add_violation(name, f"should be {_TYPE_NAMES[kind]}")
        return default

    def get_strings(self, name: str) -> list[str]:
        """Return the strings of an array; other entries are violations."""
        values = self.get(name, list, [])
        bad_indexes = [index for index, entry in enumerate(values) if not isinstance(entry, str)]
        for index in bad_indexes:
            self.report.add_violation(f"{self.pointer_to(name)}/{index}", "should be a string")
        return [] if bad_indexes else values

    def get_objects(self, name: str, *, required: bool = False) -> list[ObjectReader]:
        """Return readers for the objects of an array; other entries are violations."""
        values = self.get(name, list, [], required=required)
        readers = []
        for index, entry in enumerate(values):
            location = f"{self.pointer_to(name)}/{index}"
            if isinstance(entry, dict):
                readers.append(ObjectReader(entry, location, self.report))
            else:
                self.report.add_violation(location, "should be an object")
        return readers

    def get_object(self, name: str, *, required: bool = False) -> ObjectReader:
        """Return a reader for the object of a key, or for an empty object if the key is absent."""
        return ObjectReader(self.get(name, dict, {}, required=required), self.pointer_to(name), self.report)

    def get_time(self, name: str) -> Any:
        """Return a time, as text or in seconds since 1970; a time in the future is a violation."""
        self.used_keys.update((name, _to_camel_case(name)))
        value = self.value.get(_find_key(self.value, name) or name)
        if isinstance(value, str):
            if _is_invalid_time(value):
                self.add_violation(name, "should be a time, such as 2025-01-31T12:00:00Z")
            elif is_in_future(value, self.report.now):
                self.add_violation(name, f"{value} is in the future")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            if value > self.report.now + CLOCK_SKEW_SECONDS:
                self.add_violation(name, f"{value} is in the future")
        elif value is not None:
            self.add_violation(name, "should be a time")
        return value

    def require_pending(self) -> None:
        """Record a violation if the status says that something has started."""
        status = self.get("status", str, "pending")
        if status != "pending":
            self.add_violation("status", f"is {status}: only pending plans and steps can be imported")

    def reject_values(self, *names: str, why: str) -> None:
        """Record a violation for each key with a value that can't be imported; null and empty values are allowed."""
        for name in names:
            self.used_keys.update((name, _to_camel_case(name)))
            key = _find_key(self.value, name)
            if key is not None and self.value[key] not in (None, [], {}):
                self.add_violation(name, why)

    def reject_unknown_keys(self) -> None:
        """Record a violation for each key that was not read."""
        for name in [name for name in self.value if name not in self.used_keys]:
            self.report.add_violation(
                self.location + json_pointer((name,)), "unknown key; its content can't be imported"
            )


def _find_key(value: dict[str, Any], name: str) -> str | None:
    """Return the spelling of a key in an object, or None."""
    return next((spelling for spelling in (name, _to_camel_case(name)) if spelling in value), None)


def _to_camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join([word.capitalize() for word in rest])


def _has_type(value: object, kind: type) -> bool:
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _is_invalid_time(text: str) -> bool:
    from datetime import datetime

    try:
        datetime.fromisoformat(text)
    except ValueError:
        return True
    return False
