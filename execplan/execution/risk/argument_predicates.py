"""Predicates on command arguments for risk table rows, where patterns are not enough: words that begin with @."""

from __future__ import annotations

from os.path import normpath

from execplan.execution.shell.command_table import LOSS_STATEMENTS
from execplan.execution.shell.simple_command import is_local_address, is_outside_path, is_remote_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Tasks = Mapping[str, frozenset[str]]

_PLAIN_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:+-@/%")
_LOADER_VARIABLES = (
    "CC CXX LD AR AS CPP ENV BASH_ENV LD_PRELOAD LD_LIBRARY_PATH NODE_OPTIONS PERL5OPT RUBYOPT PYTHONSTARTUP".split()
)
_CODE_VARIABLES = frozenset(
    ("SHELL", ".SHELLFLAGS", "MAKEFLAGS", "MFLAGS", "MAKEFILES", "PATH", "DESTDIR", "HOME", *_LOADER_VARIABLES)
)
_RUN_COMMANDS = ("run", "run-script", "task")
"""Words that precede the name of a task."""
_HOME_ROOTS = ("home", "Users", "root")
_MAVEN_GOALS = frozenset(
    "validate compile test package verify install clean site test-compile integration-test process-classes process-resources "
    "generate-sources dependency:tree dependency:analyze spotless:check spotless:apply checkstyle:check fmt:format "
    "surefire:test failsafe:verify failsafe:integration-test pmd:check spotbugs:check help:evaluate versions:display-dependency-updates".split()
)


def is_safe_task(name: str, tasks: Tasks) -> bool:
    """Return whether a task builds, tests or checks, according to its name."""
    parts = split_name(name)
    if not parts or len(parts) > 12 or not _PLAIN_CHARACTERS.issuperset(name):
        return False
    risky_words = tasks["risky"] | tasks["shipping"]
    if tasks["building"] & set(parts):
        risky_words -= {"prod", "production", "release", "dev", "live"}
    return not risky_words & set(parts) and bool(tasks["known"] & set(parts))


def split_name(name: str) -> list[str]:
    """Split the name of a task or file into lower-case words: `testUnit` and `test-unit` give test and unit."""
    parts: list[str] = []
    part = ""
    for char, next_char in zip(name, f"{name} "[1:], strict=True):
        if not char.isalnum():
            parts.append(part)
            part = ""
            continue
        part += char.lower()
        if char.islower() and next_char.isupper():
            parts.append(part)
            part = ""
    return [text for text in [*parts, part] if text]


def _are_safe_tasks(args: Sequence[str], tasks: Tasks) -> bool:
    """Return whether every argument is a safe task or a variable with a plain value, with at least one task."""
    names = [arg for arg in args if "=" not in arg]
    return bool(names) and all([is_safe_task(arg, tasks) for arg in names]) and not _has_unsafe_assignment(args, tasks)


def _has_unsafe_assignment(args: Sequence[str], tasks: Tasks) -> bool:
    """Return whether a variable is set to more than a plain word, or determines which code runs."""
    for arg in args:
        name, equals, value = arg.partition("=")
        if equals and (
            name.rstrip(":?+!") in _CODE_VARIABLES or not _PLAIN_CHARACTERS.issuperset(value) or is_outside_path(value)
        ):
            return True
    return False


def _has_shipping_task(args: Sequence[str], tasks: Tasks) -> bool:
    """Return whether a task publishes or deploys; arguments after a safe task are its own."""
    for arg in args:
        if arg in _RUN_COMMANDS:
            continue
        if is_safe_task(arg, tasks):
            return False
        if tasks["shipping"] & set(split_name(arg)) and not set("/.=") & set(arg):
            return True
    return False


def _are_maven_goals(args: Sequence[str], tasks: Tasks) -> bool:
    """Return whether every argument is a Maven goal that builds, tests or inspects."""
    return bool(args) and all([arg in _MAVEN_GOALS for arg in args])


def _are_local_addresses(args: Sequence[str], tasks: Tasks) -> bool:
    """Return whether every argument is an address on this machine."""
    return bool(args) and all([_is_local_address(arg) for arg in args])


def _has_remote_address(args: Sequence[str], tasks: Tasks) -> bool:
    """Return whether an argument may be an address on another machine."""
    return any([not _is_local_address(arg) and ("://" in arg or "." in arg) for arg in args])


def _deletes_elsewhere(args: Sequence[str], tasks: Tasks) -> bool:
    """Return whether a request deletes something on another machine."""
    return "DELETE" in args and _has_remote_address(args, tasks)


def _erases_data(args: Sequence[str], tasks: Tasks) -> bool:
    """Return whether a database client gets a statement that deletes data."""
    text = " ".join(args).upper()
    return any([statement in text for statement in LOSS_STATEMENTS]) or ".DROP" in text or ".DELETEMANY(" in text


def _has_remote_host(args: Sequence[str], tasks: Tasks) -> bool:
    """Return whether an argument is not a name of this machine."""
    return any([not is_local_address(arg) for arg in args])


def _is_local_address(address: str) -> bool:
    return not is_remote_address(address) if "://" in address else is_local_address(address)


def _is_sed_print(args: Sequence[str], tasks: Tasks) -> bool:
    """Return whether the first argument is a sed program that only prints: no writing of files, no commands."""
    return bool(args) and all(
        [_is_sed_print_command(command.strip()) for command in args[0].replace("\n", ";").split(";") if command.strip()]
    )


def _is_sed_print_command(command: str) -> bool:
    """Return whether a single sed command only prints, omits or substitutes lines."""
    import re

    address = r"(?:\d+(?:~\d+)?|\$|/(?:[^/\\]|\\.)*/I?)"
    if re.fullmatch(rf"(?:{address}(?:\s*,\s*(?:{address}|\+\d+))?)?\s*!?\s*[pdq=lnNP]", command):
        return True
    match = re.fullmatch(rf"(?:{address}(?:,{address})?)?s([/|#,:@!])(.*)", command)
    if not match:
        return False
    pieces = re.split(rf"(?<!\\){re.escape(match[1])}", match[2])
    return len(pieces) == 3 and set(pieces[2]) <= set("gpiI0123456789")


def _is_safe_awk(args: Sequence[str], tasks: Tasks) -> bool:
    """Return whether the awk program runs no command and uses no other files, judging by all arguments."""
    unsafe = ("system", "|", ">", "@", "getline", "ENVIRON")
    return bool(args) and not [marker for marker in unsafe for arg in args if marker in arg]


def _has_system_path(args: Sequence[str], tasks: Tasks) -> bool:
    """Return whether an argument after the pattern is the root directory, a directory in it, or a user's home."""
    tops = [arg.strip("/").split("/") for arg in args[1:] if arg.startswith("/")]
    return any([top == [""] or (len(top) == 1 and top[0] != "tmp") or top[0] in _HOME_ROOTS for top in tops])


def _has_whole_tree(args: Sequence[str], tasks: Tasks) -> bool:
    """Return whether an argument is the root, a home, the whole directory, Git's data, or expanded by a shell."""
    for arg in args:
        path = normpath(arg) if ".." in arg.split("/") else arg.rstrip("/") or "/"
        while path.startswith("./"):
            path = path[2:].lstrip("/") or "."
        if (
            is_outside_path(path)
            or path in (".", "*", ".*", "**")
            or path.split("/")[0] == ".git"
            or "$" in path
            or "`" in path
        ):
            return True
    return False


ARGUMENT_PREDICATES: dict[str, Callable[[Sequence[str], Tasks], bool]] = {
    "@tasks": _are_safe_tasks,
    "@settings": _has_unsafe_assignment,
    "@ships": _has_shipping_task,
    "@goals": _are_maven_goals,
    "@here": _are_local_addresses,
    "@away": _has_remote_address,
    "@deletes": _deletes_elsewhere,
    "@erases": _erases_data,
    "@distant": _has_remote_host,
    "@prints": _is_sed_print,
    "@columns": _is_safe_awk,
    "@machine": _has_system_path,
    "@everything": _has_whole_tree,
    "@inside": lambda words, tasks: all(
        [not is_outside_path(part) for arg in words for part in arg.split(":") if part]
    ),
}
"""Predicates by name, each applied to all arguments from its position on."""
