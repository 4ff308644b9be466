"""All checks of an evaluation, ordered by name: the short ones, and imports of the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from execplan.core.text.invisible_characters import describe_characters, find_hidden
from execplan.execution.attributes import DEFAULT_TIMEOUT_S
from execplan.execution.evaluation.checks import (  # noqa: F401 - importing each one registers its check
    expectation_check,
    import_check,
    needed_things_check,
    path_check,
    pattern_check,
    service_check,
)
from execplan.execution.evaluation.checks.check_registry import (
    ERROR,
    REGISTERED,
    WARNING,
    CheckContext,
    EvaluationFinding,
    check,
)
from execplan.execution.evaluation.file_syntax import syntax_problem
from execplan.execution.evaluation.projected_files import normalize_paths, parent_directories
from execplan.execution.evaluation.trial import Trial, step_commands, target_paths, written_texts
from execplan.execution.execution_plan import Step, Type
from execplan.execution.policy import Policy
from execplan.execution.shell.call_patterns import matches_command_prefix, matches_path_ignoring_case
from execplan.execution.world import LINK, OUTSIDE


@check("shell")
def shell(context: CheckContext) -> Iterator[EvaluationFinding]:
    """Every line that needs a shell declares it, and every other line can be parsed as a single command."""
    from execplan.execution.shell.command_line import parse_command
    from execplan.execution.shell_declaration import shell_fix

    sources = [trial.step.source for trial in context.trials]
    for trial in context.trials:
        step = trial.step
        if step.type not in (Type.COMMAND, Type.INSTALL) or step.argv is not None or step.shell is not None:
            continue
        parsed = parse_command(step.command or "")
        if parsed.shell_reason:
            why = f"needs a shell: {parsed.shell_reason}"
        else:
            why = f"can't be parsed: {parsed.problem or 'it is empty'}"
        is_alone = step.source is None or sources.count(step.source) == 1
        fix = (
            shell_fix(step.command or "", is_inferred=step.inferred, is_alone=is_alone)
            if parsed.shell_reason
            else "correct the line"
        )
        yield EvaluationFinding(ERROR, f"its command {why}", fix, step)


@check("syntax")
def syntax(context: CheckContext) -> Iterator[EvaluationFinding]:
    """Files and scripts in a supported language can be parsed: Python, JSON, TOML, YAML, and scripts by their shell."""
    for trial in context.trials:
        step = trial.step
        if not step.validation.syntax_check:
            continue
        if step.shell is not None and step.command is not None:
            if problem := context.world.syntax(step.shell, step.command.encode()):
                yield EvaluationFinding(ERROR, f"its script has a syntax error: {problem}", "correct the script", step)
        for change in written_texts(trial) if step.type is Type.CREATE else trial.changes:
            is_new_text = change.after is not None and not change.origin
            problem = syntax_problem(change.path, change.after or b"", context.world) if is_new_text else ""
            if problem:
                fix = "correct the step, or set syntax-check=false"
                yield EvaluationFinding(ERROR, f"{change.path} would not be valid {problem}", fix, step)


_MB = 1 << 20
_SETTINGS_HINT = "under [execution] in your own settings (execplan explain policy)"
_MIN_FREE_DISK = 100 * _MB
"""Disk space to keep free for journals and for output of commands, in bytes."""
_MIN_FREE_MEMORY = 256 * _MB


@check("resources")
def resources(context: CheckContext) -> Iterator[EvaluationFinding]:
    """The disk has enough space for written files and backups, and there is enough memory for commands."""
    changes = [change for trial in context.trials for change in trial.changes]
    needed_bytes = sum([len(change.before or b"") + 2 * len(change.after or b"") for change in changes])
    free_bytes, memory_bytes = context.world.free_bytes(), context.world.memory_bytes()
    if 0 <= free_bytes < needed_bytes:
        yield EvaluationFinding(
            ERROR,
            f"the disk has {free_bytes // _MB:,} MB left, but {needed_bytes // _MB:,} MB are needed",
            "free some space",
        )
    elif 0 <= free_bytes < needed_bytes + _MIN_FREE_DISK:
        yield EvaluationFinding(WARNING, f"the disk has only {free_bytes // _MB:,} MB left", "free some space")
    if not any([trial.step.command is not None for trial in context.trials]):
        return
    if 0 <= memory_bytes < _MIN_FREE_MEMORY:
        yield EvaluationFinding(
            WARNING, f"only {memory_bytes // _MB:,} MB of memory are available", "close programs that you don't need"
        )
    limit_mb, machine_mb = context.policy.memory_mb, context.world.total_memory_bytes() // _MB
    if limit_mb != Policy().memory_mb and 0 <= machine_mb < limit_mb:
        message = f"a step may use {limit_mb:,} MB of memory, but the machine has {machine_mb:,} MB"
        yield EvaluationFinding(WARNING, message, f"set memory_mb to {machine_mb} or less {_SETTINGS_HINT}")


@check("permissions")
def permissions(context: CheckContext) -> Iterator[EvaluationFinding]:
    """Every file that a step writes or deletes is writable, and so is its directory."""
    writable: dict[str, bool] = {}
    deleted: set[str] = set()
    for trial in context.trials:
        for paths, level in ((trial.targets, ERROR), (normalize_paths(trial.step.outputs), WARNING)):
            for path in paths:
                if context.world.state(path).kind in (OUTSIDE, LINK):
                    continue
                checked_path = next((parent for parent in parent_directories(path) if parent in deleted), path)
                if checked_path not in writable:
                    writable[checked_path] = context.world.writable(checked_path)
                if not writable[checked_path]:
                    yield EvaluationFinding(
                        level, f"{path} is not writable", "check its mode and that of its directory", trial.step
                    )
        deleted.update([change.path for change in trial.changes if change.after is None])


@check("limits")
def limits(context: CheckContext) -> Iterator[EvaluationFinding]:
    """Steps, files, megabytes and seconds are within the limits, and no step does what the document forbids."""
    constraints, policy = context.document.constraints, context.policy
    changes = [change for trial in context.trials for change in trial.changes]
    files = {path for step in context.document.steps for path in normalize_paths([*target_paths(step), *step.outputs])}
    size = sum([len(change.after or b"") for change in changes])
    max_seconds = min(policy.seconds, constraints.max_duration_s or policy.seconds)
    for label, count, setting, limit in (
        ("steps", len(context.document.steps), "steps", policy.steps),
        ("files", len(files), "files", policy.files),
        ("megabytes to write", -(-size // _MB), "megabytes", policy.megabytes),
    ):
        if count > limit:
            hint = f"split the plan, or set {setting} = {count} {_SETTINGS_HINT}"
            yield EvaluationFinding(ERROR, f"{count:,} {label}; the policy's limit is {limit:,}", hint)
    total_seconds = 0
    for trial in context.trials:
        step = trial.step
        attempts = 1 + step.on_failure.max_retries if step.command is not None else 0
        total_seconds += policy.step_seconds(step.timeout_s) * attempts
        if step.timeout_s != DEFAULT_TIMEOUT_S and step.timeout_s > (constraints.max_duration_s or step.timeout_s):
            message = f"its timeout is {step.timeout_s:,} seconds, but the plan limits a run to {constraints.max_duration_s:,}"
            yield EvaluationFinding(ERROR, message, "shorten its timeout, or raise max-duration in the plan", step)
        elif step.timeout_s != DEFAULT_TIMEOUT_S and step.timeout_s > max_seconds:
            message = f"its timeout is {step.timeout_s:,} seconds, but the run stops after {max_seconds:,}"
            yield EvaluationFinding(
                WARNING, message, f"shorten its timeout, or set seconds = {step.timeout_s} {_SETTINGS_HINT}", step
            )
        yield from _check_forbidden(trial, constraints.forbidden_paths, constraints.forbidden_commands)
    if total_seconds > max_seconds:
        yield EvaluationFinding(
            WARNING, f"the steps may take {total_seconds:,} seconds in total, but the run ends after {max_seconds:,}"
        )
    if constraints.allow_unplanned and context.document.mode == "agent":
        message = "an agent may make calls that are in no step; a person is asked about each"
        yield EvaluationFinding(WARNING, message, "remove allow_unplanned to restrict the agent to the steps")
    elif constraints.allow_unplanned:
        message = "allow_unplanned is set, but execplan itself runs only steps"
        yield EvaluationFinding(ERROR, message, "remove it, or set the mode to agent")


def _check_forbidden(trial: Trial, paths: Sequence[str], commands: Sequence[str]) -> Iterator[EvaluationFinding]:
    """Yield uses of paths and commands that the document itself forbids."""
    from execplan.execution.shell.command_line import parse_command

    step = trial.step
    for path in [*trial.targets, *normalize_paths(step.outputs)]:
        for pattern in paths:
            if matches_path_ignoring_case(path, pattern):
                yield EvaluationFinding(ERROR, f"{path} is forbidden by {pattern!r}", "remove it from the step", step)
    for line in step_commands(step):
        for simple in parse_command(line.text).simple_commands:
            for pattern in commands:
                if matches_command_prefix(simple.argv, pattern):
                    message = f"{' '.join(simple.argv)} is forbidden by {pattern!r}"
                    yield EvaluationFinding(ERROR, message, "remove it from the step", step)


@check("hidden")
def hidden(context: CheckContext) -> Iterator[EvaluationFinding]:
    """No command, path or written text contains an invisible character or one that changes the text direction."""
    for trial in context.trials:
        step = trial.step
        for label, fragments in _reviewed_texts(step):
            for text in fragments:
                for chars in _hidden_runs(text):
                    yield EvaluationFinding(
                        ERROR, f"{label} contains {describe_characters(chars)}, which is invisible", "remove it", step
                    )
        for change in written_texts(trial):
            before, after = [(data or b"").decode("utf-8", "replace") for data in (change.before, change.after)]
            for chars in dict.fromkeys(_hidden_runs(after)):
                if chars not in before:
                    yield EvaluationFinding(
                        WARNING,
                        f"{change.path} would contain {describe_characters(chars)}, which is invisible",
                        "remove it",
                        step,
                    )


def _reviewed_texts(step: Step) -> Iterator[tuple[str, list[str]]]:
    """Yield the texts that a person reviews before approval, each with a label."""
    yield "its command", [step.command or "", *(step.argv or ())]
    yield "its test", list(step.validation.test_after or ())
    yield "its environment", [f"{name}={value}" for name, value in step.env.items()]
    yield "a path", [*target_paths(step), step.from_ or "", *step.inputs, *step.outputs, step.cwd]


def _hidden_runs(text: str) -> list[str]:
    """Return the runs of hidden characters in a text, without duplicates."""
    runs = [line[start:end] for line in text.split("\n") for start, end in find_hidden(line.removesuffix("\r"))]
    return list(dict.fromkeys(runs))


CHECKS = dict(sorted(REGISTERED.items()))
