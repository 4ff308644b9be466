"""Check for harmful patterns. It is only advisory: a command can be written so that its effect is not visible."""

from __future__ import annotations

from collections.abc import Iterator

from execplan.core.named_tuple import NamedTuple
from execplan.core.secrets import certain_secrets
from execplan.execution.evaluation.checks.check_registry import ERROR, WARNING, CheckContext, EvaluationFinding, check
from execplan.execution.evaluation.trial import step_commands, written_texts
from execplan.execution.execution_plan import Step
from execplan.execution.risk.content_dangers import find_dangers
from execplan.execution.shell.command_line import SimpleCommand

_FETCHERS = ("curl", "wget", "fetch", "aria2c", "nc", "ncat")
_INTERPRETERS = (
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "fish",
    "python",
    "python3",
    "perl",
    "ruby",
    "node",
    "php",
    "source",
    ".",
    "eval",
)


class HarmfulPattern(NamedTuple):
    """A harmful pattern in a command, with its severity and a suggested fix."""

    level: str
    message: str
    fix: str


@check("patterns")
def patterns(context: CheckContext) -> Iterator[EvaluationFinding]:
    """No command is destructive or runs code from the network, and no written text contains a secret or a danger."""
    for trial in context.trials:
        step = trial.step
        for line in step_commands(step):
            for pattern in find_harmful_patterns(line.text, is_script=step.shell is not None):
                yield EvaluationFinding(*pattern, step)
        yield from _check_secrets(
            step, "its environment", "\n".join([f"{name}={value}" for name, value in step.env.items()]), ""
        )
        for change in written_texts(trial):
            before, after = [(data or b"").decode("utf-8", "replace") for data in (change.before, change.after)]
            yield from _check_secrets(step, change.path, after, before)
            for danger in find_dangers(change.path, after, before, context.policy.risk_table):
                yield EvaluationFinding(
                    WARNING, f"{change.path}: the new text {danger}", "review it before you approve it", step
                )


def find_harmful_patterns(command: str, *, is_script: bool) -> Iterator[HarmfulPattern]:
    """Yield the harmful patterns in a command line or script: broad deletions, code from the network, and secrets."""
    from execplan.execution.shell.command_line import parse_command

    for simple in parse_command(command).simple_commands:
        yield from _command_patterns(simple, is_script=is_script)
    yield from _new_secrets("its command", command, "")


def _command_patterns(simple: SimpleCommand, *, is_script: bool) -> Iterator[HarmfulPattern]:
    """Yield the harmful patterns of a single command."""
    if not simple.argv:
        return
    name = _base_name(simple.argv[0])
    flags = "".join([arg.lstrip("-") for arg in simple.argv[1:] if arg.startswith("-")])
    if name == "rm" and ("r" in flags.lower() or "recursive" in flags):
        if broad_paths := [arg for arg in simple.argv[1:] if _is_whole_tree(arg)]:
            message = f"rm deletes {broad_paths[0]} and everything below it"
            yield HarmfulPattern(ERROR, message, "specify the files to delete")
    fetchers = [_base_name(source) for source in simple.piped_from if _base_name(source) in _FETCHERS]
    if fetchers and name.rstrip("0123456789.") in _INTERPRETERS + tuple(
        [interpreter.rstrip("3") for interpreter in _INTERPRETERS]
    ):
        yield HarmfulPattern(
            WARNING if is_script else ERROR,
            f"{name} runs what {fetchers[0]} downloads",
            "download it in one step, inspect it, and run it in another",
        )


def _check_secrets(step: Step, location: str, text: str, old_text: str) -> Iterator[EvaluationFinding]:
    """Yield a finding for each secret that is new in a text of a step."""
    for pattern in _new_secrets(location, text, old_text):
        yield EvaluationFinding(*pattern, step)


def _new_secrets(location: str, text: str, old_text: str) -> Iterator[HarmfulPattern]:
    for secret in certain_secrets.find_secrets(text):
        secret_text = text[secret.start : secret.end]
        if secret_text not in old_text:
            preview = secret_text[: secret.visible_length] + "…"
            message = f"{location} contains a {secret.kind} ({preview})"
            yield HarmfulPattern(ERROR, message, "remove it, and replace the secret with a new one")


def _is_whole_tree(path: str) -> bool:
    """Return whether a path is a whole tree: `/`, `~/*`, `./*`, `..`.

    That is the root, the home or the current directory, or all of its content.
    """
    for user_home in ("${HOME}", "$HOME", "~"):
        path = "/" + path.removeprefix(user_home) if path.startswith(user_home) else path
    return bool(path) and not path.strip("/.*")


def _base_name(path: str) -> str:
    return path.rpartition("/")[2]
