"""Living plans in a repository: write, check, keep true, run and file them.

The names below are loaded when they are first used; `import execplan` alone loads nothing else.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.agents.toolkit.tool_list import AgentTool, agent_tools
    from execplan.context.search.match_lines import Match
    from execplan.context.search.plan_search import PlanResult, SearchResults
    from execplan.context.summary.summarization_request import SummarizationRequest, summarize_markdown
    from execplan.core.documents.document_io import document_bytes, load_document
    from execplan.core.edits.plan_writer import EditResult, WriteOptions
    from execplan.core.errors import ExecplanError
    from execplan.core.plan.model import Entry, ParsedPlan, Section, Task
    from execplan.core.plan.reader import parse
    from execplan.execution.engine.agent_runs.agent_report import StepReport
    from execplan.execution.engine.run_observer import FinishedRun, RollbackResult, RunObserver, RunOptions
    from execplan.execution.execution_plan import ExecutionPlan, Step
    from execplan.execution.importers.plan_import import import_plan
    from execplan.execution.revision.agent_plan_creation import create_execution_plan
    from execplan.execution.revision.composition import compose
    from execplan.execution.revision.document_replanning import ExecutionState, ReplanRequest, replan_document
    from execplan.execution.run_record import Record, StepRecord
    from execplan.execution.states import advance
    from execplan.library.execution_api import (
        approve,
        compile_plan,
        evaluate,
        handoff,
        record,
        replan,
        report,
        resume,
        rollback,
        run,
        runs,
    )
    from execplan.library.plan_api import Plan
    from execplan.library.project_api import Project
    from execplan.linter.rule import Finding, RuleContext
    from execplan.linter.text_check import lint
    from execplan.team.history.history_event import HistoryEvent

_MODULES = {
    "agents.toolkit.tool_list": ("agent_tools", "AgentTool"),
    "library.project_api": ("Project",),
    "library.plan_api": ("Plan",),
    "library.execution_api": (
        "approve",
        "compile_plan",
        "evaluate",
        "handoff",
        "record",
        "replan",
        "report",
        "resume",
        "rollback",
        "run",
        "runs",
    ),
    "core.documents.document_io": ("document_bytes", "load_document"),
    "execution.execution_plan": ("ExecutionPlan", "Step"),
    "execution.importers.plan_import": ("import_plan",),
    "execution.revision.agent_plan_creation": ("create_execution_plan",),
    "execution.revision.composition": ("compose",),
    "execution.revision.document_replanning": ("ExecutionState", "ReplanRequest", "replan_document"),
    "execution.run_record": ("Record", "StepRecord"),
    "execution.states": ("advance",),
    "team.history.history_event": ("HistoryEvent",),
    "context.search.match_lines": ("Match",),
    "context.search.plan_search": ("PlanResult", "SearchResults"),
    "context.summary.summarization_request": ("SummarizationRequest", "summarize_markdown"),
    "linter.text_check": ("lint",),
    "linter.rule": ("Finding", "RuleContext"),
    "core.plan.reader": ("parse",),
    "core.plan.model": ("Entry", "ParsedPlan", "Section", "Task"),
    "core.edits.plan_writer": ("EditResult", "WriteOptions"),
    "execution.engine.agent_runs.agent_report": ("StepReport",),
    "execution.engine.run_observer": ("FinishedRun", "RollbackResult", "RunObserver", "RunOptions"),
    "core.errors": ("ExecplanError",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "AgentTool",
    "EditResult",
    "Entry",
    "ExecplanError",
    "ExecutionPlan",
    "ExecutionState",
    "Finding",
    "FinishedRun",
    "HistoryEvent",
    "Match",
    "ParsedPlan",
    "Plan",
    "PlanResult",
    "Project",
    "Record",
    "ReplanRequest",
    "RollbackResult",
    "RuleContext",
    "RunObserver",
    "RunOptions",
    "SearchResults",
    "Section",
    "Step",
    "StepRecord",
    "StepReport",
    "SummarizationRequest",
    "Task",
    "WriteOptions",
    "__version__",
    "advance",
    "agent_tools",
    "approve",
    "compile_plan",
    "compose",
    "create_execution_plan",
    "document_bytes",
    "evaluate",
    "handoff",
    "import_plan",
    "lint",
    "load_document",
    "parse",
    "record",
    "replan",
    "replan_document",
    "report",
    "resume",
    "rollback",
    "run",
    "runs",
    "summarize_markdown",
]


def __getattr__(name: str) -> object:
    """Load a public name from its module."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'execplan' has no attribute {name!r}")
    module = __import__(f"execplan.{_MODULE_OF[name]}", fromlist=[name])
    value: object = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Name what is public, loaded or not."""
    return [*globals(), *_MODULE_OF]
