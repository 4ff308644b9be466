"""Tables that scripts/generate.py writes as JSON from TOML, because the code that uses them must start fast."""

from __future__ import annotations

import os

from execplan.core.text import fast_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def load_table(path: str) -> Any:
    """Load a table of the package, with tuples instead of lists; `path` is relative to the package."""
    with open(f"{_PACKAGE}/{path}", encoding="utf-8") as file:
        return _with_tuples(fast_json.read_trusted(file.read()))


def _with_tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple([_with_tuples(element) if isinstance(element, list) else element for element in value])
    if isinstance(value, dict):
        return {name: _with_tuples(element) for name, element in value.items()}
    return value
