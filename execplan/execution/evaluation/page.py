"""An evaluation as a page of markdown for a reviewer; what a plan holds stays inside its code spans and fences."""

from __future__ import annotations

from execplan.execution.attributes import LEVELS
from execplan.execution.evaluation.checks.check import ERROR
from execplan.execution.evaluation.told import lines_of, origin, runs, standing_of, terms, verdict, writes
from execplan.execution.evaluation.trial import EXACT
from execplan.text.hidden import visible_lines
from execplan.text.secrets import masked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.execution.evaluate import Evaluation, Judged
    from execplan.execution.evaluation.checks.check import Finding
    from execplan.execution.model import ExecutionPlan


def page(document: ExecutionPlan, evaluation: Evaluation, path: str, digest: str, approve: str) -> str:
    """The page; `path` is where the steps stand, `approve` the command that approves what has the digest."""
    parts = [
        f"# Execution plan {code(document.plan_id)}",
        f"{code(document.description)}, from {code(path)}",
        *([f"**{origin(document)}.**"] if origin(document) else []),
        *_summary(evaluation, digest, approve),
        "| step | id | type | risk | dry run | approval | verdict |\n|---|---|---|---|---|---|---|\n"
        + "\n".join([_row(each) for each in evaluation.steps]),
    ]
    if evaluation.findings:
        parts += ["## Findings", "\n".join([_finding(each, path) for each in evaluation.findings])]
    parts.append("## Steps")
    for each in evaluation.steps:
        parts += _step(each, path)
    parts += ["## Checks", _checks(evaluation)]
    return "\n\n".join(parts) + "\n"


def _summary(evaluation: Evaluation, digest: str, approve: str) -> Iterator[str]:
    """What is to be decided."""
    yield f"**{verdict(evaluation)}.**"
    levels = [each.risk.level for each in evaluation.steps if not each.done]
    counts = [f"{levels.count(level)} {level}" for level in reversed(LEVELS) if level in levels]
    yield f"Risk **{evaluation.risk.level}** ({', '.join(counts)}). The digest of all that an approval binds:"
    yield fence(digest, "text")
    if evaluation.ok:
        yield "Who has read this page approves just this with:"
        yield fence(f"{approve} --digest {digest}", "sh")


def _row(judged: Judged) -> str:
    step = judged.step
    cells = [str(step.number), step.id, step.type.value, judged.risk.level, judged.dry_run.kind]
    cells += standing_of(judged)
    return f"| {' | '.join([cell.replace('_', chr(92) + '_') for cell in cells])} |"


def _finding(finding: Finding, path: str) -> str:
    place = f"step {finding.step.number}, {code(lines_of(finding.step, path))}: " if finding.step is not None else ""
    mend = f" Mend: {code(finding.mend)}" if finding.mend else ""
    level = f"**{finding.level}**" if finding.level == ERROR else finding.level
    return f"- {level} ({finding.check}): {place}{code(finding.message)}{mend}"


def _step(judged: Judged, path: str) -> Iterator[str]:
    step = judged.step
    yield f"### {step.number}. {code(step.id)}"
    facts = [f"{code(step.description)} ({code(lines_of(step, path))})"]
    facts += [f"Risk {judged.risk.level}: {code(reason)}" for reason in judged.risk.reasons]
    if step.inferred:
        facts.append("Inferred from prose: nobody wrote it down as a step.")
    if step.depends_on:
        facts.append(f"After {', '.join([code(each) for each in step.depends_on])}")
    facts += [code(each) for each in terms(step)]
    yield "\n".join([f"- {each}" for each in facts])
    for what, command in runs(step, code):
        yield what[:1].upper() + what[1:] + ":"
        yield fence(command, "sh" if step.parameters is None else "json")
    dry = judged.dry_run
    why = f": {code(dry.why)}" if dry.why else ""
    yield f"Dry run, {dry.kind}{why}" + (":" if dry.diff else "")
    if dry.diff:
        yield fence(dry.diff, "diff")
    elif dry.kind == EXACT and not dry.why:
        yield "It changes nothing."
    for what, text in writes(judged):
        yield what[:1].upper() + what[1:] + ":"
        yield fence(text, "diff" if step.patch is not None else "text")


def _checks(evaluation: Evaluation) -> str:
    bad = {each.check for each in evaluation.findings}
    told = [
        f"- {name}: {'off' if not on else 'see above' if name in bad else 'nothing found'}"
        for name, on in evaluation.checks.items()
    ]
    return "\n".join(told)


def code(text: str) -> str:
    """A text as a code span, on one line, without secrets, and with what can't be seen escaped."""
    text = " ".join(_visible(text).split()) or " "
    ticks = "`" * (_longest(text) + 1)
    pad = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fence(text: str, language: str) -> str:
    """A text in a fence that nothing in it closes, without secrets, and with what can't be seen escaped."""
    ticks = "`" * max(3, _longest(text) + 1)
    return f"{ticks}{language}\n{_visible(text).removesuffix(chr(10))}\n{ticks}"


def _visible(text: str) -> str:
    """A text without secrets, and with what can't be seen escaped: a page is sent around."""
    return visible_lines(masked(text))


def _longest(text: str) -> int:
    """The length of the longest run of backticks."""
    longest = run = 0
    for char in text:
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    return longest
