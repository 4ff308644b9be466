"""The linter's main loop, which runs all rules on a plan or a project."""

from __future__ import annotations

from execplan.core.errors import ExecplanError
from execplan.core.plan import reader
from execplan.core.plan.model import COMPLETE, DRAFT
from execplan.core.plan.plan_recognition import follows_format
from execplan.linter.plan_source import PlanSource
from execplan.linter.rule import (
    BUILTIN_PREFIX,
    BYTES,
    CLOCK,
    COMMIT,
    CONFLICT_CODE,
    ERROR,
    GRADUAL,
    HINT,
    HISTORY,
    NOT_A_PLAN,
    RULES,
    TREE,
    WARNING,
    Finding,
    Fix,
    Rule,
    RuleContext,
)
from execplan.linter.rules import (
    acceptance_rules,
    command_rules,
    completeness_rules,
    dependency_rules,
    front_matter_rules,
    history_rules,
    lifecycle_rules,
    link_rules,
    log_consistency_rules,
    log_entry_rules,
    markdown_rules,
    milestone_rules,
    planned_file_rules,
    progress_rules,
    project_rules,
    review_rules,
    section_rules,
    self_containment_rules,
    staleness_rules,
    step_compile_rules,
    step_safety_rules,
    suppression_rules,
    symbol_rules,
    task_format_rules,
    timestamp_rules,
    title_rules,
    whitespace_rules,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan
    from execplan.linter.rule import ProjectMatch
    from execplan.linter.rule_facts import ProjectFacts

__all__ = [
    "ERROR",
    "HINT",
    "RULES",
    "WARNING",
    "Finding",
    "RuleContext",
    "archive_errors",
    "draft_errors",
    "lint_bytes",
    "lint_plan",
    "lint_project",
    "unreadable_finding",
]

RULE_MODULES = (
    *(markdown_rules, suppression_rules, whitespace_rules),
    *(completeness_rules, section_rules, title_rules, front_matter_rules),
    *(
        progress_rules,
        timestamp_rules,
        staleness_rules,
        task_format_rules,
        milestone_rules,
    ),
    *(log_entry_rules, log_consistency_rules),
    *(self_containment_rules, command_rules, symbol_rules, link_rules, planned_file_rules),
    *(lifecycle_rules, project_rules, dependency_rules, history_rules, acceptance_rules, review_rules),
    *(step_compile_rules, step_safety_rules),
)
"""Modules of rules; importing one registers its rules."""
for _code in sorted(RULES):
    RULES[_code] = RULES.pop(_code)  # rules run and are listed in the order of their codes

DEFAULT_LEVELS = {code: GRADUAL if rule.unfinished else rule.level for code, rule in RULES.items() if rule.on}
"""Rules that run by default, each with its level."""

MAX_FINDINGS = 100
"""Maximum number of findings of a rule shown per file."""

_MIN_SECRET_LENGTH = 16
"""Minimum characters of a word that may be a secret."""
_DRAFT_CODES = ("EP109", "EP201")
_COMPLETE_CODES = ("EP501",)
"""Codes whose errors are warnings under `--hook`, so that each step of writing and running a plan can be committed."""
_EXCLUSIVE_CODE = "EP004"
_ANY_FORM_CODES = frozenset(
    (
        "EP001 EP002 EP003 EP005 EP008 EP009 EP010 EP103 EP109 EP114 EP116 EP203 EP208 EP215 EP401 EP409 "
        "EP410 EP411 EP502 EP503 EP504 EP506 EP509 EP510 EP515 EP516"
    ).split()
)
"""Built-in rules that hold for a plan in any form; the others demand the sections and entries of an ExecPlan."""


def lint_bytes(data: bytes, context: RuleContext | None = None, levels: dict[str, str] | None = None) -> list[Finding]:
    """Return the findings for a file's bytes, sorted by line. Unreadable bytes give a single finding."""
    try:
        plan = reader.read(data, context.titles if context is not None else None)
    except ExecplanError as error:
        return [unreadable_finding(error)]
    return lint_plan(plan, context, levels)


def archive_errors(plan: ParsedPlan) -> list[Finding]:
    """Return the errors that stop the archive of a plan, besides open tasks and a missing outcome.

    With them are open tasks that nothing counts, because of their checkboxes.
    """
    from execplan.linter.rules.task_format_rules import hidden_task_lines

    findings = lint_plan(plan, RuleContext(in_project=True), is_complete=True)
    errors = [finding for finding in findings if finding.level == ERROR and finding.code not in ("EP501", "EP502")]
    hidden = hidden_task_lines(plan)
    return errors + [finding for finding in findings if finding.code == "EP206" and finding.line - 1 in hidden]


def draft_errors(plan: ParsedPlan) -> list[Finding]:
    """Return the errors that keep a plan from being added; a draft may have placeholder text and no tasks."""
    return [finding for finding in lint_plan(plan, RuleContext(allows_draft=True)) if finding.level == ERROR]


def unreadable_finding(error: ExecplanError) -> Finding:
    """Convert a read error into a finding."""
    line = max(error.line, 1)
    return Finding("EP001", ERROR, line, 1, line, 1, f"{error.message}: {error.hint}")


def _without_conflicting_text(plan: ParsedPlan, findings: list[Finding]) -> list[Finding]:
    """Return the findings that are not about text between conflict markers, of which one side will go."""
    if not plan.conflict_lines:
        return findings
    lines_in_conflict: set[int] = set()
    start = -1
    for at in plan.conflict_lines:
        start = at if start < 0 else start
        if plan.text.lines[at][:1] == ">":
            lines_in_conflict.update(range(start + 1, at + 2))
            start = -1
    return [finding for finding in findings if finding.code == CONFLICT_CODE or finding.line not in lines_in_conflict]


def lint_plan(
    plan: ParsedPlan,
    context: RuleContext | None = None,
    levels: dict[str, str] | None = None,
    max_findings: int = MAX_FINDINGS,
    *,
    is_complete: bool = False,
) -> list[Finding]:
    """Return the findings for a plan, sorted by line.

    `levels` are the rules to run, each with its level. The default is all rules that are on by default. With
    `is_complete`, findings have the levels that they have once the plan is complete.
    """
    context = (context or RuleContext())._replace(source=PlanSource(plan))
    levels = DEFAULT_LEVELS if levels is None else levels
    required_lines = None
    if not _follows_format(plan, context):
        if plan.is_document and context.skips_other_files:
            return [NOT_A_PLAN]
        if not plan.is_document:
            levels = _any_form_levels(levels)
            required_lines = context.required_lines or ()
    context = context._replace(required_lines=required_lines)
    lowered_codes: tuple[str, ...] = ()
    state = plan.state()
    if plan.is_archived_unfinished:
        lowered_codes = tuple(RULES)
    elif context.allows_draft:
        lowered_codes = _DRAFT_CODES if state == DRAFT else _COMPLETE_CODES
    available = _available_needs(context)
    rules_run = [RULES[code] for code in levels if RULES[code].in_archive or not context.is_record]
    codes_run = {rule.code for rule in rules_run if rule.needs in available}
    findings: list[Finding] = []
    for code, rule in RULES.items():
        if code not in codes_run:
            continue
        level = rule.level_of(levels[code], complete=is_complete or state == COMPLETE)
        level = WARNING if level == ERROR and code in lowered_codes else level
        rule_findings = _run_rule(rule, level, plan, context, max_findings)
        findings += rule_findings
        if rule_findings and code == _EXCLUSIVE_CODE:
            break  # the rules after it would report the text inside the code block
    findings = _without_conflicting_text(plan, findings)
    if suppression_rules.MARK in context.source.text:
        from execplan.linter.suppression_filter import apply_suppressions

        findings = apply_suppressions(plan, context.source, findings, levels, codes_run)
    findings.sort(key=lambda finding: (finding.line, finding.column))
    return [finding._replace(fix=None) for finding in findings] if context.is_record else findings


def _follows_format(plan: ParsedPlan, context: RuleContext) -> bool:
    """Return whether a plan, or its committed version, is meant to be an ExecPlan; a text without a file may become one."""
    committed = context.history.committed_plan if context.history is not None else None
    has_file = bool(context.path) or context.in_project
    return not has_file or follows_format(plan) or (committed is not None and follows_format(committed))


def _any_form_levels(levels: dict[str, str]) -> dict[str, str]:
    """Return the rules among some that hold for a plan in any form, with their levels."""
    return {
        code: level for code, level in levels.items() if code in _ANY_FORM_CODES or not code.startswith(BUILTIN_PREFIX)
    }


def _run_rule(rule: Rule, level: str, plan: ParsedPlan, context: RuleContext, max_findings: int) -> list[Finding]:
    """Return the findings of one rule up to the limit, with a last one for the number of others."""
    findings: list[Finding] = []
    match_count = 0
    for match in rule.check(plan, context):
        match_count += 1
        if match_count <= max_findings + 1:
            end = (match.end_line, max(match.end_column, match.column + 1))
            fix = Fix(rule.fix, match.edits) if match.edits else None
            message = match.message if len(match.message) < _MIN_SECRET_LENGTH else _without_secrets(match.message)
            findings.append(Finding(rule.code, level, match.line + 1, match.column + 1, *end, message, fix))
    if match_count > max_findings:
        line = findings.pop().line
        findings.append(Finding(rule.code, level, line, 1, line, 1, f"and {match_count - max_findings} more"))
    return findings


def lint_project(facts: ProjectFacts, levels: dict[str, str] | None = None) -> list[tuple[str, Finding]]:
    """Return the findings about a project, each with the path of a file or directory."""
    levels = DEFAULT_LEVELS if levels is None else levels
    findings = []
    for code, rule in RULES.items():
        if code in levels and rule.project_check is not None:
            matches = list(rule.project_check(facts))
            findings += [(match.path, _project_finding(rule, levels[code], match)) for match in matches[:MAX_FINDINGS]]
            if len(matches) > MAX_FINDINGS:
                overflow = Finding(code, levels[code], 1, 1, 1, 1, f"and {len(matches) - MAX_FINDINGS} more")
                findings.append((matches[MAX_FINDINGS].path, overflow))
    return findings


def _project_finding(rule: Rule, level: str, match: ProjectMatch) -> Finding:
    line = match.line + 1
    fix = Fix(rule.fix, match.edits) if match.edits else None
    return Finding(rule.code, level, line, 1, line, 1, match.message, fix)


def _without_secrets(message: str) -> str:
    """Return a message, which may quote the plan, with secrets redacted."""
    if not any([len(word) >= _MIN_SECRET_LENGTH for word in message.split()]):
        return message
    from execplan.core import features

    masked: str = features.load(features.MASKING)(message)
    return masked


def _available_needs(context: RuleContext) -> set[str]:
    """Return the needs of rules that the context meets."""
    facts = (BYTES, True), (CLOCK, context.clock), (TREE, context.tree), (COMMIT, context.history)
    met = {need for need, fact in facts if fact is not None}
    return met if context.history is None or context.history.is_partial else {*met, HISTORY}
