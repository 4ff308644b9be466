"""Captions of the code blocks that are steps: their attributes as facts, in place of the braces in the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.execution.annotations.info_string import parse_info_string
from execplan.execution.attributes import EXAMPLE, EXECUTION, EXPECT

if TYPE_CHECKING:
    from collections.abc import Sequence

_MARKS = {EXAMPLE: "Example", EXPECT: "Expected output", EXECUTION: "Settings of runs"}
"""Captions of the code blocks that are no steps, by mark."""


def describe_code(info: str) -> Sequence[tuple[str, str]]:
    """Return the facts in a code block's info string, such as `sh {#build timeout=60}`, as labels and values.

    A value may be empty. There are no facts if the attributes are those of another program or are not valid.
    """
    parsed = parse_info_string(info)
    if parsed is None or parsed.flaws:
        return ()
    step = "Step", parsed.id.value if parsed.id is not None else ""
    facts = [(_MARKS[parsed.mark], "")] if parsed.mark else [step]
    attributes = [attribute for attribute in parsed.attributes if attribute.name != "id"]
    return [
        *facts,
        *[(attribute.name.replace("-", " "), "" if attribute.is_bare else attribute.value) for attribute in attributes],
    ]
