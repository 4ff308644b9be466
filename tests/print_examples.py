"""Print the examples that hypothesis tries: `python -m tests.print_examples [MODULE]...`, with these modules loaded."""

from __future__ import annotations

import sys
from importlib import import_module

from hypothesis import given, settings
from hypothesis import strategies as st

import tests.conftest  # noqa: F401 - it chooses the examples


def main(modules: list[str]) -> None:
    """Print them."""
    for module in modules:
        import_module(module)

    @settings(max_examples=300)
    @given(st.text(), st.integers(), st.floats())
    def show(text: str, number: int, ratio: float) -> None:
        print(ascii((text, number, ratio)))

    show()


if __name__ == "__main__":
    main(sys.argv[1:])
