"""What harms by its looks. This is advice: a command can be written so that no reader sees what it does."""

from __future__ import annotations

from execplan.execution.evaluation.checks.check_registry import ERROR, WARNING, CheckContext, Finding, check
from execplan.execution.evaluation.trial import step_commands, written_texts
from execplan.execution.risk.dangerous_content import find_dangers
from execplan.secrets import certain_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.execution.execution_plan import Step
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


@check("patterns")
def patterns(context: CheckContext) -> Iterator[Finding]:
    """No command destroys or runs what the network sends, and no text that is written holds a secret or a known trap."""
    from execplan.execution.shell.command_line import parse_command

    for trial in context.trials:
        step = trial.step
        for line in step_commands(step):
            for simple in parse_command(line.text).simple_commands:
                yield from _check_command(step, simple)
            yield from _check_secrets(step, "its command", line.text, "")
        yield from _check_secrets(
            step, "its environment", "\n".join([f"{name}={value}" for name, value in step.env.items()]), ""
        )
        for change in written_texts(trial):
            before, after = [(data or b"").decode("utf-8", "replace") for data in (change.before, change.after)]
            yield from _check_secrets(step, change.path, after, before)
            for danger in find_dangers(change.path, after, before, context.policy.risk_table):
                yield Finding(WARNING, f"{change.path}: the new text {danger}", "read it before you approve it", step)


def _check_command(step: Step, simple: SimpleCommand) -> Iterator[Finding]:
    """What one command says of itself."""
    if not simple.argv:
        return
    name = _base_name(simple.argv[0])
    flags = "".join([arg.lstrip("-") for arg in simple.argv[1:] if arg.startswith("-")])
    if name == "rm" and ("r" in flags.lower() or "recursive" in flags):
        broad_paths = [arg for arg in simple.argv[1:] if _is_whole_tree(arg)]
        if broad_paths:
            yield Finding(ERROR, f"rm deletes {broad_paths[0]} and all below it", "name the files that should go", step)
    fetchers = [_base_name(source) for source in simple.piped_from if _base_name(source) in _FETCHERS]
    if fetchers and name.rstrip("0123456789.") in _INTERPRETERS + tuple(
        [interpreter.rstrip("3") for interpreter in _INTERPRETERS]
    ):
        yield Finding(
            ERROR if step.shell is None else WARNING,
            f"{name} runs what {fetchers[0]} gets from the network",
            "get it with one step, look at it, and run it with another",
            step,
        )


def _check_secrets(step: Step, location: str, text: str, old_text: str) -> Iterator[Finding]:
    """Secrets that were not there before."""
    for secret in certain_secrets.find_secrets(text):
        secret_text = text[secret.start : secret.end]
        if secret_text not in old_text:
            preview = secret_text[: certain_secrets.visible_length(secret)] + "…"
            yield Finding(ERROR, f"{location} holds a {secret.kind} ({preview})", "take it out, and renew it", step)


def _is_whole_tree(path: str) -> bool:
    """Whether a path is the root, the home or the folder itself, or all that is in one of them: `/`, `~/*`, `./*`, `..`."""
    for user_home in ("${HOME}", "$HOME", "~"):
        path = "/" + path.removeprefix(user_home) if path.startswith(user_home) else path
    return bool(path) and not path.strip("/.*")


def _base_name(path: str) -> str:
    return path.rpartition("/")[2]
