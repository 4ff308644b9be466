"""The risk of a step under a policy: the higher of the policy's own rating and the one that the document states."""

from __future__ import annotations

from execplan.execution.attributes import LEVELS
from execplan.execution.risk.command_risk import Risk
from execplan.execution.risk.risk_table import builtin_table
from execplan.execution.risk.step_risk import rate_step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.execution.execution_plan import Step
    from execplan.execution.policy import Policy


def effective_risk(step: Step, policy: Policy) -> Risk:
    """Return the higher of the risk from the policy's table and the risk stated in the document.

    A stated level that is no higher than the built-in table's comes from that table, at compile time: the user's own
    rows may lower it.
    """
    stated_risk, fields = step.risk, step.model_dump(mode="json")
    if policy.risk_table.version != builtin_table().version:
        unrated_fields = {name: value for name, value in fields.items() if name != "risk"}
        fields = (
            fields
            if LEVELS.index(stated_risk.level.value) > LEVELS.index(rate_step(unrated_fields).level)
            else unrated_fields
        )
    risk = rate_step(fields, policy.risk_table)
    if risk.level != stated_risk.level.value:
        return risk
    return Risk(risk.level, tuple(dict.fromkeys([*risk.reasons, *stated_risk.reasons])))
