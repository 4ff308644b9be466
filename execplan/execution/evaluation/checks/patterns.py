"""What harms by its looks. This is advice: a command can be written so that no reader sees what it does."""

from __future__ import annotations

from execplan.execution.evaluation.checks.check import ERROR, WARNING, Case, Finding, check
from execplan.execution.evaluation.commands import lines
from execplan.execution.evaluation.trial import texts
from execplan.execution.risk.content import dangers
from execplan.text import secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.execution.command.parse import Simple
    from execplan.execution.model import Step

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
def patterns(case: Case) -> Iterator[Finding]:
    """No command destroys or runs what the network sends, and no text that is written holds a secret or a known trap."""
    from execplan.execution.command.parse import parse

    for trial in case.trials:
        step = trial.step
        for line in lines(step):
            for simple in parse(line.text).simple:
                yield from _command(step, simple)
            yield from _secrets(step, "its command", line.text, "")
        yield from _secrets(step, "its environment", "\n".join([f"{k}={v}" for k, v in step.env.items()]), "")
        for change in texts(trial):
            before, after = [(data or b"").decode("utf-8", "replace") for data in (change.before, change.after)]
            yield from _secrets(step, change.path, after, before)
            for what in dangers(change.path, after, before, case.policy.rated):
                yield Finding(WARNING, f"{change.path}: the new text {what}", "read it before you approve it", step)


def _command(step: Step, simple: Simple) -> Iterator[Finding]:
    """What one command says of itself."""
    if not simple.argv:
        return
    name = _name(simple.argv[0])
    flags = "".join([each.lstrip("-") for each in simple.argv[1:] if each.startswith("-")])
    if name == "rm" and ("r" in flags.lower() or "recursive" in flags):
        whole = [each for each in simple.argv[1:] if _is_everything(each)]
        if whole:
            yield Finding(ERROR, f"rm deletes {whole[0]} and all below it", "name the files that should go", step)
    fetched = [_name(each) for each in simple.reads if _name(each) in _FETCHERS]
    if fetched and name.rstrip("0123456789.") in _INTERPRETERS + tuple([each.rstrip("3") for each in _INTERPRETERS]):
        yield Finding(
            ERROR if step.shell is None else WARNING,
            f"{name} runs what {fetched[0]} gets from the network",
            "get it with one step, look at it, and run it with another",
            step,
        )


def _secrets(step: Step, where: str, text: str, before: str) -> Iterator[Finding]:
    """Secrets that were not there before."""
    for secret in secrets.find(text):
        word = text[secret.start : secret.end]
        if word not in before:
            told = word[: secrets.shown(secret)] + "…"
            yield Finding(ERROR, f"{where} holds a {secret.kind} ({told})", "take it out, and renew it", step)


def _is_everything(word: str) -> bool:
    """Whether a path is the root, the home or the folder itself, or all that is in one of them: `/`, `~/*`, `./*`, `..`."""
    for home in ("${HOME}", "$HOME", "~"):
        word = "/" + word.removeprefix(home) if word.startswith(home) else word
    return bool(word) and not word.strip("/.*")


def _name(word: str) -> str:
    return word.rpartition("/")[2]
