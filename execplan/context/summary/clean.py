"""A plan without its secrets, before anything of it is cut: what is left of half a key would not be told for one."""

from __future__ import annotations

from execplan.plan.reader import read_text
from execplan.text.lines import Text
from execplan.text.redaction import REDACTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.model import Plan
    from execplan.text.redaction import Redactor


def redact_plan(plan: Plan, redaction: Redactor) -> Plan:
    """The plan as it reads with each secret replaced; its lines keep their numbers."""
    source = plan.text.to_str()
    secret_spans = redaction.spans(source)
    if not secret_spans:
        return plan
    for start, end in reversed(secret_spans):
        line_ends = "".join([char for char in source[start:end] if char in "\r\n"])
        source = source[:start] + REDACTED + line_ends + source[end:]
    return read_text(Text.from_str(source))
