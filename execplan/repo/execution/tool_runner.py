"""What runs in the process of a tool: the one place where code of an installed package is imported.

Python is given this file as text, so it imports nothing of execplan. `check` reads pairs of an entry point and parameters from
standard input, and prints what is wrong with each; `run` reads parameters, calls the function, and prints its result as JSON.
"""

from __future__ import annotations

import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_INVALID = 2
"""The exit status of a call with parameters that don't fit."""


def load(value: str) -> Callable[..., Any]:
    """The function that an entry point names; raises whatever its module raises."""
    from importlib import import_module

    module, _, name = value.partition(":")
    found: Any = import_module(module.strip())
    for part in name.split("[")[0].strip().split("."):
        found = getattr(found, part)
    if not callable(found):
        raise TypeError(f"{value} is no function")
    return found  # type: ignore[no-any-return]  # it is callable


def bind(function: Callable[..., Any], given: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The arguments for parameters, checked against the type hints, and what is wrong with them."""
    import inspect
    from difflib import get_close_matches
    from typing import Any, get_type_hints

    from pydantic import TypeAdapter, ValidationError

    hints, known = get_type_hints(function, include_extras=True), inspect.signature(function).parameters
    further = next((each for each in known.values() if each.kind is each.VAR_KEYWORD), None)
    named = {name: each for name, each in known.items() if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)}
    values, wrong = {}, []
    for name, value in given.items():
        if name not in named and further is None:
            near = get_close_matches(name, named, n=1, cutoff=0.6)
            takes = f"did you mean {near[0]}?" if near else f"it takes {', '.join(named) or 'none'}"
            wrong.append(f"there is no parameter {name}: {takes}")
            continue
        hint = hints.get(name if name in named or further is None else further.name, Any)
        try:
            values[name] = TypeAdapter(hint).validate_json(json.dumps(value), strict=True)
        except ValidationError as error:
            for flaw in error.errors(include_url=False, include_input=False):
                wrong.append(f"{'.'.join([name, *map(str, flaw['loc'])])}: {flaw['msg']}")
    for name, each in known.items():
        if each.default is each.empty and each.kind is each.POSITIONAL_ONLY:
            wrong.append(f"the function takes {name} by its position only, and a step gives parameters by name")
        elif each.default is each.empty and name in named and name not in given:
            wrong.append(f"the parameter {name} is missing")
    return values, wrong


def check(value: str, given: Mapping[str, Any]) -> list[str]:
    """What is wrong with a call that is not made."""
    try:
        function = load(value)
    except BaseException as error:  # noqa: BLE001 - code that nobody here knows
        return [f"{value} can't be loaded: {type(error).__name__}: {error}"]
    try:
        return bind(function, given)[1]
    except Exception as error:  # noqa: BLE001 - as above
        return [f"the type hints of {value} can't be read: {type(error).__name__}: {error}"]


def call(value: str, given: Mapping[str, Any]) -> int:
    """Call a function and print what it returns, unless that is None; the exit status."""
    function = load(value)
    values, wrong = bind(function, given)
    if wrong:
        print(*wrong, sep="\n", file=sys.stderr)
        return _INVALID
    from inspect import isawaitable

    result = function(**values)
    if isawaitable(result):
        import asyncio

        async def finished() -> Any:
            return await result

        result = asyncio.run(finished())
    if result is not None:
        from pydantic_core import to_json

        sys.stdout.flush()
        sys.stdout.buffer.write(to_json(result) + b"\n")
        sys.stdout.flush()
    return 0


def main() -> None:
    """As the first argument says; the second is the path along which modules are found."""
    sys.path[:] = json.loads(sys.argv[2])
    if sys.argv[1] == "run":
        sys.exit(call(sys.argv[3], json.load(sys.stdin)))
    calls = json.load(sys.stdin)
    answer = os.dup(1)
    os.dup2(2, 1)  # what a module prints while it is imported is no answer
    told = json.dumps([check(value, given) for value, given in calls]).encode()
    with open(answer, "wb") as out:
        out.write(told)


if __name__ == "__main__":
    main()
