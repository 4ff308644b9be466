"""The process of a tool, the only place where code of an installed package is imported.

Python gets this file as text, so it imports nothing from execplan. `check` reads pairs of an entry point and
parameters from standard input and prints the problems of each; `run` reads parameters, calls the function and
prints its result as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_INVALID = 2
"""Exit status of a call with invalid parameters."""


def load_function(entry_point: str) -> Callable[..., Any]:
    """Import the function that an entry point names. Raises whatever its module raises."""
    from importlib import import_module

    module_name, _, name = entry_point.partition(":")
    resolved: Any = import_module(module_name.strip())
    for attribute in name.split("[")[0].strip().split("."):
        resolved = getattr(resolved, attribute)
    if not callable(resolved):
        raise TypeError(f"{entry_point} is not a function")
    return resolved  # type: ignore[no-any-return]  # it is callable


def bind_arguments(function: Callable[..., Any], parameters: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments for a call, checked against the type hints, and the problems with them."""
    import inspect
    from difflib import get_close_matches
    from typing import Any, get_type_hints

    try:
        from pydantic import TypeAdapter, ValidationError
    except ImportError:
        return {}, ["pydantic, which checks the parameters, is not installed; the extra `tools` contains it"]
    hints, signature_parameters = get_type_hints(function, include_extras=True), inspect.signature(function).parameters
    keyword_rest = next(
        (parameter for parameter in signature_parameters.values() if parameter.kind is parameter.VAR_KEYWORD), None
    )
    named_parameters = {
        name: parameter
        for name, parameter in signature_parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }
    arguments, problems = {}, []
    for name, value in parameters.items():
        if name not in named_parameters and keyword_rest is None:
            similar_names = get_close_matches(name, named_parameters, n=1, cutoff=0.6)
            if similar_names:
                advice = f"did you mean {similar_names[0]}?"
            else:
                advice = f"it accepts {', '.join(named_parameters) or 'none'}"
            problems.append(f"unknown parameter {name}; {advice}")
            continue
        hint = hints.get(name if name in named_parameters or keyword_rest is None else keyword_rest.name, Any)
        try:
            arguments[name] = TypeAdapter(hint).validate_json(json.dumps(value), strict=True)
        except ValidationError as error:
            for error_detail in error.errors(include_url=False, include_input=False):
                problems.append(f"{'.'.join([name, *map(str, error_detail['loc'])])}: {error_detail['msg']}")
    for name, parameter in signature_parameters.items():
        if parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_ONLY:
            problems.append(f"the function accepts {name} only by position, but a step passes parameters by name")
        elif parameter.default is parameter.empty and name in named_parameters and name not in parameters:
            problems.append(f"parameter {name} is missing")
    return arguments, problems


def check_call(entry_point: str, parameters: Mapping[str, Any]) -> list[str]:
    """Return the problems of a call without making it."""
    try:
        function = load_function(entry_point)
    except BaseException as error:  # noqa: BLE001 - code that nobody here knows
        return [f"{entry_point} can't be loaded: {type(error).__name__}: {error}"]
    try:
        return bind_arguments(function, parameters)[1]
    except Exception as error:  # noqa: BLE001 - as above
        return [f"the type hints of {entry_point} can't be read: {type(error).__name__}: {error}"]


def call_function(entry_point: str, parameters: Mapping[str, Any]) -> int:
    """Call a function, print its result unless that is None, and return the exit status."""
    function = load_function(entry_point)
    arguments, problems = bind_arguments(function, parameters)
    if problems:
        print(*problems, sep="\n", file=sys.stderr)
        return _INVALID
    from inspect import isawaitable

    result = function(**arguments)
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
    """Run the action in the first argument; the second argument is the module search path."""
    sys.path[:] = json.loads(sys.argv[2])
    if sys.argv[1] == "run":
        sys.exit(call_function(sys.argv[3], json.load(sys.stdin)))
    calls = json.load(sys.stdin)
    answer_fd = os.dup(1)
    os.dup2(2, 1)  # output that a module prints at import is not part of the answer
    answer_json = json.dumps([check_call(entry_point, parameters) for entry_point, parameters in calls]).encode()
    with open(answer_fd, "wb") as answer_file:
        answer_file.write(answer_json)


if __name__ == "__main__":
    main()
