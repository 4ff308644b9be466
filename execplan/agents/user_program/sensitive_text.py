"""Detection of possible secrets and personal data in texts that leave this machine.

It matches more than the redaction of transcripts does. A false match is restored later, so it costs the model one word
and has no other effect.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise

from execplan.core.project.project import Project

_GENERIC_NAMES = frozenset(
    "root user users admin runner ubuntu debian node build builder nobody git vscode test dev docker localhost".split()
)
"""Generic names that identify no person."""
_SYSTEM_DIRECTORIES = frozenset("bin boot dev etc lib lib32 lib64 opt proc run sbin sys tmp usr var".split())
"""Top-level directories that every machine has."""
_PATH = re.compile(r"(?<![\w./:@~+-])/([\w.@+-]+)(?:/[\w.@+-]*)*")
_USER_DIRECTORY = re.compile(r"(?<![\w.])/(?:home|Users)/[\w.@+-]+")
_MAIL = re.compile(r"(?<![\w.+-])(?!git@)[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_VARIABLES = ("USER", "LOGNAME", "EXECPLAN_AUTHOR", "GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME")
_DIRECTORY_VARIABLES = (
    "HOME",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "VIRTUAL_ENV",
    "TMPDIR",
)
_MIN_NAME_LENGTH = 3


class PersonalData:
    """Known paths of a machine and names of its users."""

    def __init__(self, paths: Iterable[str], names: Iterable[str]) -> None:
        self._paths = sorted({path.rstrip("/") for path in paths if path.count("/") > 1}, key=len, reverse=True)
        known_names = sorted(
            {name for name in names if len(name) >= _MIN_NAME_LENGTH and name.lower() not in _GENERIC_NAMES}, key=len
        )
        self._names = (
            re.compile(rf"(?i)(?<![\w-])(?:{'|'.join(map(re.escape, reversed(known_names)))})(?![\w-])")
            if known_names
            else None
        )

    def find_paths(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of this machine's paths; below a known directory, only that directory. Spans may overlap."""
        known_spans = [*self._find_known_paths(text), *[match.span() for match in _USER_DIRECTORY.finditer(text)]]
        yield from known_spans
        starts = {start for start, _ in known_spans}
        for match in _PATH.finditer(text):
            if match.start() not in starts and match[1] not in _SYSTEM_DIRECTORIES and _is_there(f"/{match[1]}"):
                yield match.span()

    def _find_known_paths(self, text: str) -> Iterator[tuple[int, int]]:
        for path in self._paths:
            start = text.find(path)
            while start >= 0:
                end = start + len(path)
                if not text[end : end + 1].isalnum():
                    yield start, end
                start = text.find(path, end)

    def find_names(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of user names and email addresses."""
        for pattern in (self._names, _MAIL):
            if pattern is not None:
                yield from [match.span() for match in pattern.finditer(text)]


@cache
def _is_there(path: str) -> bool:
    return os.path.lexists(path)


def collect_personal_data(project: Project) -> PersonalData:
    """Collect paths and names from the machine, its user and the settings."""
    import platform
    import tempfile

    from execplan.core.git.git_query import user_name
    from execplan.core.plan_store import author

    folders = [project.root, project.base, project.state, os.path.expanduser("~"), tempfile.gettempdir()]
    folders += [os.environ[name] for name in _DIRECTORY_VARIABLES if name in os.environ]
    paths = [path for folder in folders if os.path.isabs(folder) for path in (folder, os.path.realpath(folder))]
    git_name, host_name = user_name(project.root) or "", platform.node().partition(".")[0]
    names = [author.system_login(), author.author(project), project.settings.author, _full_name(), git_name, host_name]
    return PersonalData(paths, [*names, *[os.environ.get(name, "") for name in _VARIABLES]])


def _full_name() -> str:
    """Return the user's name in the user database; empty if it has none."""
    if sys.platform == "win32":
        return ""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_gecos.partition(",")[0]
    except KeyError:
        return ""


_SENSITIVE_NAME = (
    r"(?:passw(?:or)?d|passwort|passphrase|passcode|pwd|secret|token|credentials?|authorization|cookie|bearer"
    r"|api[_-]?key|access[_-]?key|private[_-]?key|secret[_-]?key|auth[_-]?key|session[_-]?id|_pass|_key|_pin)"
)
"""Pattern for the part of a name that marks its value as a secret; the name may continue after it."""
_ASSIGNED_VALUE = re.compile(
    rf"(?i){_SENSITIVE_NAME}[\w.-]{{0,40}}[\"'`\]]{{0,2}}[ \t]{{0,8}}(?:=>|:=|[:=])[ \t]{{0,8}}"
    r"(?:(?:bearer|basic|token)[ \t]+)?(?:\"([^\"\n]{1,2000})\"|'([^'\n]{1,2000})'|([^\s\"'`,;&|(){}<>$\[\]]{1,2000}))(?![(\[])"
)
"""Pattern for a value assigned to such a name: `password: …`, `TOKEN=…`, `"secret": "…"`, `?token=…`."""
_OPTION = re.compile(
    rf"(?i)(?:^|\s)--?[\w-]{{0,40}}{_SENSITIVE_NAME}[\w-]{{0,40}}[ \t]{{1,8}}(?!-)"
    r"(?:\"([^\"\n]{1,2000})\"|'([^'\n]{1,2000})'|([^\s\"'`$;&|]{1,2000}))"
)
_FLAG = re.compile(rf"(?i)^--?[\w-]*{_SENSITIVE_NAME}[\w-]*$")
_USER_OPTION = re.compile(r"(?:^|\s)(?:-u|--user)[ \t=]{0,8}[\"']?[^\s\"':/]{1,200}:([^\s\"']{1,2000})")
_HEADER = re.compile(r"(?i)\b(?:bearer|basic)[ \t]+([\w.~+/=-]{0,2000}\d[\w.~+/=-]{0,2000})")
_ADDRESS = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{0,20}://([^\s/@\"'`<>]{1,300})@")
_LONG_TOKEN = re.compile(r"[A-Za-z0-9+/_=-]{16,}")
_HEX = re.compile(r"^(?=.*\d)(?=.*[a-fA-F])[0-9a-fA-F]{32,}$")
_CODE_VALUE = re.compile(
    r"(?i)^(?:[a-z_]+(?:\.[a-z_]+)+|none|null|true|false|str|string|int|bytes|bool|any|optional|\*+|\.+|\$\{?\w+\}?|\$\{\{.*)$"
)
"""Pattern for assigned values that are no secrets: an attribute, a type, a variable, a missing value."""
_MIN_RANDOM_LENGTH = 20
_MIN_MIXED_RATIO = 0.36
"""Minimum share of neighboring characters that differ in kind in a random token.

Random tokens have 0.62, names in code 0.2.
"""


def find_suspected_secrets(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of possible secrets in a text; spans may overlap."""
    for pattern in (_ASSIGNED_VALUE, _OPTION, _USER_OPTION, _HEADER, _ADDRESS):
        for match in pattern.finditer(text):
            group = match.lastindex or 0
            if group and not _CODE_VALUE.match(match[group]):
                yield match.span(group)
    for match in _LONG_TOKEN.finditer(text):
        if _is_random(match[0]) or _encodes_secret(match[0]):
            yield match.span()


def find_secret_arguments(argv: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the index of each argument that follows an option for a secret, and the secret's offset in it.

    Such an option is, for example, `--password`.
    """
    for index, (name, value) in enumerate(pairwise(argv), 1):
        if _FLAG.match(name) and not value.startswith("-"):
            yield index, 0
        elif name in ("-u", "--user") and ":" in value:
            yield index, value.index(":") + 1


def _is_random(token: str) -> bool:
    """Estimate whether the letters and digits of a token are random."""
    if _HEX.match(token):
        return True
    char_classes = [_char_class(char) for char in token if char.isalnum()]
    if len(char_classes) < _MIN_RANDOM_LENGTH or len(set(char_classes)) < 3:
        return False
    changes = sum([left != right for left, right in pairwise(char_classes)])
    return changes >= _MIN_MIXED_RATIO * (len(char_classes) - 1)


def _char_class(char: str) -> int:
    if char.isdigit():
        return 0
    if char.isupper():
        return 1
    return 2


def _encodes_secret(token: str) -> bool:
    """Check whether a token is the base64 encoding of a text that contains a possible secret."""
    from base64 import b64decode

    try:
        data = b64decode(
            token.rstrip("=") + "=" * (-len(token.rstrip("=")) % 4), b"-_" if {"-", "_"} & set(token) else None
        )
        text = data.decode("utf-8")
    except ValueError:
        return False
    return "".join(text.split()).isprintable() and any(True for _ in find_suspected_secrets(text))
