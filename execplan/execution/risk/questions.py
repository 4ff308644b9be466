"""What a row of the table asks of the words of a command where a pattern can't tell: the words that begin with @."""

from __future__ import annotations

from execplan.execution.command.simple import is_here, is_remote, leads_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Tasks = Mapping[str, frozenset[str]]

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:+-@/%")
_LOADED = (
    "CC CXX LD AR AS CPP ENV BASH_ENV LD_PRELOAD LD_LIBRARY_PATH NODE_OPTIONS PERL5OPT RUBYOPT PYTHONSTARTUP".split()
)
_CODE = frozenset(("SHELL", ".SHELLFLAGS", "MAKEFLAGS", "MFLAGS", "MAKEFILES", "PATH", "DESTDIR", "HOME", *_LOADED))
_RUN = ("run", "run-script", "task")
"""Words in front of the name of a task."""
_HOMES = ("home", "Users", "root")
_GOALS = frozenset(
    "validate compile test package verify install clean site test-compile integration-test process-classes process-resources "
    "generate-sources dependency:tree dependency:analyze spotless:check spotless:apply checkstyle:check fmt:format "
    "surefire:test failsafe:verify failsafe:integration-test pmd:check spotbugs:check help:evaluate versions:display-dependency-updates".split()
)


def is_task(word: str, tasks: Tasks) -> bool:
    """Whether a task builds, tests or checks, as its name says."""
    parts = name_parts(word)
    if not parts or len(parts) > 12 or not _PLAIN.issuperset(word):
        return False
    wrong = tasks["risky"] | tasks["shipping"]
    if tasks["building"] & set(parts):
        wrong -= {"prod", "production", "release", "dev", "live"}
    return not wrong & set(parts) and bool(tasks["known"] & set(parts))


def name_parts(word: str) -> list[str]:
    """The words in the name of a task or a file, in lower case: `testUnit` and `test-unit` give test and unit."""
    pieces: list[str] = []
    piece = ""
    for char, after in zip(word, [*word[1:], " "], strict=True):
        if not char.isalnum():
            pieces.append(piece)
            piece = ""
            continue
        piece += char.lower()
        if char.islower() and after.isupper():
            pieces.append(piece)
            piece = ""
    return [each for each in [*pieces, piece] if each]


def _tasks(words: Sequence[str], tasks: Tasks) -> bool:
    """Every word is such a task, or a variable with a plain word in it; there is one task at least."""
    names = [word for word in words if "=" not in word]
    return bool(names) and all([is_task(word, tasks) for word in names]) and not _settings(words, tasks)


def _settings(words: Sequence[str], tasks: Tasks) -> bool:
    """A variable is set to more than a plain word, or to what decides which shell runs."""
    for word in words:
        name, equals, value = word.partition("=")
        if equals and (name.rstrip(":?+!") in _CODE or not _PLAIN.issuperset(value) or leads_out(value)):
            return True
    return False


def _ships(words: Sequence[str], tasks: Tasks) -> bool:
    """A task is named that publishes or deploys; behind a harmless one stand the words for it."""
    for word in words:
        if word in _RUN:
            continue
        if is_task(word, tasks):
            return False
        if tasks["shipping"] & set(name_parts(word)) and not set("/.=") & set(word):
            return True
    return False


def _goals(words: Sequence[str], tasks: Tasks) -> bool:
    """Every word is a goal of Maven that builds, tests or looks."""
    return bool(words) and all([word in _GOALS for word in words])


def _here(words: Sequence[str], tasks: Tasks) -> bool:
    """Every word is an address of this machine."""
    return bool(words) and all([_is_address_here(word) for word in words])


def _away(words: Sequence[str], tasks: Tasks) -> bool:
    """A word may be an address of another machine."""
    return any([not _is_address_here(word) and ("://" in word or "." in word) for word in words])


def _distant(words: Sequence[str], tasks: Tasks) -> bool:
    """A word is no name of this machine."""
    return any([not is_here(word) for word in words])


def _is_address_here(word: str) -> bool:
    return not is_remote(word) if "://" in word else is_here(word)


def _prints(words: Sequence[str], tasks: Tasks) -> bool:
    """The first word is a program of sed that prints, and neither writes a file nor runs a command."""
    return bool(words) and all(
        [_is_print(each.strip()) for each in words[0].replace("\n", ";").split(";") if each.strip()]
    )


def _is_print(command: str) -> bool:
    """Whether one command of sed only prints or leaves out lines, or puts other words for some."""
    import re

    address = r"(?:\d+(?:~\d+)?|\$|/(?:[^/\\]|\\.)*/I?)"
    if re.fullmatch(rf"(?:{address}(?:\s*,\s*(?:{address}|\+\d+))?)?\s*!?\s*[pdq=lnNP]", command):
        return True
    found = re.fullmatch(rf"(?:{address}(?:,{address})?)?s([/|#,:@!])(.*)", command)
    if not found:
        return False
    pieces = re.split(rf"(?<!\\){re.escape(found[1])}", found[2])
    return len(pieces) == 3 and set(pieces[2]) <= set("gpiI0123456789")


def _columns(words: Sequence[str], tasks: Tasks) -> bool:
    """The first word is a program of awk that neither runs a command nor writes or reads other files, and no other word is one."""
    wrong = ("system", "|", ">", "@", "getline", "ENVIRON")
    return bool(words) and not [each for each in wrong for word in words if each in word]


def _machine(words: Sequence[str], tasks: Tasks) -> bool:
    """A word behind the first, which is the pattern, is the root of the machine, a folder in it, or somebody's home."""
    tops = [word.strip("/").split("/") for word in words[1:] if word.startswith("/")]
    return any([top == [""] or (len(top) == 1 and top[0] != "tmp") or top[0] in _HOMES for top in tops])


def _everything(words: Sequence[str], tasks: Tasks) -> bool:
    """A word is the whole machine, a home, the whole directory, Git's own, or not known before a shell expands it."""
    for word in words:
        path = word.rstrip("/") or "/"
        while path.startswith("./"):
            path = path[2:].lstrip("/") or "."
        if (
            leads_out(path)
            or path in (".", "*", ".*", "**")
            or path.split("/")[0] == ".git"
            or "$" in path
            or "`" in path
        ):
            return True
    return False


QUESTIONS: dict[str, Callable[[Sequence[str], Tasks], bool]] = {
    "@tasks": _tasks,
    "@settings": _settings,
    "@ships": _ships,
    "@goals": _goals,
    "@here": _here,
    "@away": _away,
    "@distant": _distant,
    "@prints": _prints,
    "@columns": _columns,
    "@machine": _machine,
    "@everything": _everything,
    "@inside": lambda words, tasks: all([not leads_out(part) for word in words for part in word.split(":") if part]),
}
"""What is asked of all words from here on."""
