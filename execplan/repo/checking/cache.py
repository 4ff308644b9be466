"""What lint found before, kept in the git folder, and believed only where nothing that it came from has changed."""

from __future__ import annotations

import marshal
import os
from time import time_ns
from zlib import crc32

from execplan import __version__, trace
from execplan.lint.rule import BUILTIN_PREFIX, RULES
from execplan.text import disk
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.lint.rule import RuleContext
    from execplan.repo.checking.one import Way
    from execplan.repo.home import Project

    Stat = tuple[int, int, int, int]
    """Size, both times of change in nanoseconds, inode."""
    Question = tuple[str, str, object]
    """What a rule asked of the tree, with the answer."""
    Row = tuple[object, ...]
    """A finding, as plain tuples."""
    Entry = tuple[Stat | None, bytes, tuple[Row, ...], int, int, tuple[int, ...]]
    """Status (none: not to be believed), digest, findings, between which minutes they hold, which questions were asked."""

_MAGIC = b"execplan lint 1\n"
_KEPT = 16
"""Caches of one repository: of other homes, options, settings and versions."""
_LIMIT = 1 << 28
_MARGIN = 2_000_000_000
"""Nanoseconds by which a file must be older than the run: the coarsest file system counts two seconds as one time."""
NEVER = 1 << 62
_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Cache:
    """The findings of one home under one set of options."""

    def __init__(self, path: str, key: bytes) -> None:
        self._path = path
        self._key = key
        self._began = time_ns()
        self._now = 0
        self._within = True
        self._outdated: set[int] = set()
        self._numbers: dict[Question, int] = {}
        self._fresh: list[tuple[str, str]] = []
        self._seen: list[tuple[str, list[str]]] = []
        self._questions: list[Question] = []
        self._folders: dict[str, dict[str, Entry]] = {}
        self._low, self._high, self._questions, self._folders = _load(path, key) or (-NEVER, NEVER, [], {})

    def ask(self, facts: RuleContext) -> None:
        """Ask anew, once each, what all rules asked of the clock and the tree."""
        if facts.clock is not None:
            self._now = facts.clock.now
        self._within = self._low <= self._now < self._high
        for at, (kind, subject, answer) in enumerate(self._questions):
            if facts.tree is None or not facts.tree.is_unchanged(kind, subject, answer):
                self._outdated.add(at)

    def folder(self, folder: str, *, archived: bool) -> dict[str, Entry]:
        """What is kept of the files of a folder."""
        return self._folders.get(_name(folder, archived=archived), {})

    def holds(self, entry: Entry) -> bool:
        """Whether clock and tree still say what the findings came from."""
        if not self._within and not entry[3] <= self._now < entry[4]:
            return False
        return not self._outdated or self._outdated.isdisjoint(entry[5])

    def questions(self, entry: Entry) -> tuple[Question, ...]:
        """What was asked for an entry."""
        return tuple([self._questions[at] for at in entry[5]])

    def saw(self, folder: str, names: list[str], *, archived: bool) -> None:
        """Note what all plans of a folder are; what is kept of others is dropped."""
        self._seen.append((_name(folder, archived=archived), names))

    def put(self, folder: str, name: str, entry: Entry, asked: tuple[Question, ...], *, archived: bool) -> None:
        """Keep what was found in a file; `asked` are the questions of its entry."""
        if not self._numbers:
            self._numbers = {question: at for at, question in enumerate(self._questions)}
        numbers = []
        for question in asked:
            if question not in self._numbers:
                self._numbers[question] = len(self._questions)
                self._questions.append(question)
            numbers.append(self._numbers[question])
        where = _name(folder, archived=archived)
        self._folders.setdefault(where, {})[name] = (*entry[:5], tuple(numbers))
        self._fresh.append((where, name))

    def save(self) -> None:
        """Write what has changed, for the next run; where that can't be done there is no cache."""
        dropped = self._drop()
        if not dropped and not self._fresh:
            return
        temporary = f"{self._path}.{os.getpid()}.tmp"
        try:
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                with open(handle, "wb") as file:
                    # the clock of the file system may be behind: what it stamps now is what it would stamp a plan
                    behind = min(0, os.fstat(handle).st_mtime_ns - time_ns())
                    file.write(self._packed(self._began + behind - _MARGIN))
                os.replace(temporary, self._path)
            except BaseException:
                os.unlink(temporary)
                raise
            _prune(os.path.dirname(self._path))
        except OSError as error:
            trace.tell(f"no cache in {self._path}: {os.strerror(error.errno or 0).lower()}")
            return
        trace.tell(f"replaced {self._path}")

    def _drop(self) -> bool:
        """Drop what is kept of files that are gone, as far as their folders were looked through."""
        dropped = False
        for where, names in self._seen:
            kept = self._folders.get(where, {})
            for name in kept.keys() - set(names):
                del kept[name]
                dropped = True
        if self._seen:
            for where in [each for each in self._folders if not os.path.isdir(each[1:])]:
                del self._folders[where]
                dropped = True
        return dropped

    def _packed(self, before: int) -> bytes:
        """The bytes of the cache; a file that was changed after a time may change again within the same tick."""
        for where, name in self._fresh:
            entry = self._folders[where].get(name)
            if entry is not None and entry[0] is not None and max(entry[0][1:3]) >= before:
                self._folders[where][name] = (None, *entry[1:])
        numbers: dict[int, int] = {}
        folders: dict[str, dict[str, Entry]] = {}
        low, high = -NEVER, NEVER
        for where, kept in self._folders.items():
            folders[where] = {}
            for name, entry in kept.items():
                asked = tuple([numbers.setdefault(at, len(numbers)) for at in entry[5]])
                folders[where][name] = (*entry[:5], asked)
                low, high = max(low, entry[3]), min(high, entry[4])
        questions = [self._questions[at] for at in numbers]
        body = marshal.dumps((low, high, questions, folders))
        return _MAGIC + self._key + crc32(body).to_bytes(4, "big") + body


def opened(home: Project, way: Way) -> Cache | None:
    """The cache for a home, None where there can be none: without git, and with rules that may depend on anything."""
    if home.git is None or not all([code.startswith(BUILTIN_PREFIX) for code in RULES]):
        return None
    rules = fingerprint()
    if rules is None:
        return None
    import sys

    about = (__version__, rules, sys.version, os.geteuid(), home, way.hook, way.selection)
    key = digest(repr(about).encode("utf-8", "surrogatepass")).encode()
    return Cache(os.path.join(home.state, "lint", key[:16].decode()), key)


def fingerprint() -> str | None:
    """What tells the files of this package from those of another version of it.

    None when one was changed just now, so that it may be another file than the one that was loaded.
    """
    found = []
    folders = [_PACKAGE]
    newest = 0
    try:
        for folder in folders:
            for each in os.scandir(folder):
                if each.is_dir():
                    folders += [each.path] if each.name != "__pycache__" else []
                    continue
                status = each.stat()
                newest = max(newest, status.st_mtime_ns, status.st_ctime_ns)
                found.append((each.path, *stat_of(status)))
    except OSError:
        return None
    return None if newest >= time_ns() - _MARGIN else repr(sorted(found))


def stat_of(status: os.stat_result) -> Stat:
    """What tells a file from what it was before."""
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def _name(folder: str, *, archived: bool) -> str:
    return ("a" if archived else "-") + folder


def _load(path: str, key: bytes) -> tuple[int, int, list[Question], dict[str, dict[str, Entry]]] | None:
    """What is kept, None where it is missing, damaged, or not ours."""
    try:
        handle = disk.open_regular(path, os.O_RDONLY | os.O_NOFOLLOW)
        with open(handle, "rb") as file:
            status = os.fstat(handle)
            if status.st_uid != os.geteuid() or status.st_size > _LIMIT:
                return None
            data = file.read()
    except OSError:
        return None
    head = _MAGIC + key
    begin = len(head) + 4
    body = memoryview(data)[begin:]
    if not data.startswith(head) or crc32(body) != int.from_bytes(data[len(head) : begin], "big"):
        return None
    try:
        low, high, questions, folders = marshal.loads(body)  # noqa: S302 (our own file in the git folder, with our checksum)
    except (ValueError, EOFError, TypeError):
        return None
    trace.tell(f"read {path}")
    return low, high, questions, folders


def _prune(folder: str) -> None:
    """Keep the newest caches; a leftover of a run that was killed goes as well, in its turn."""
    try:
        found = sorted(os.scandir(folder), key=lambda each: each.stat(follow_symlinks=False).st_mtime_ns)
        for each in found[:-_KEPT]:
            os.unlink(each.path)
    except OSError:
        pass  # another run prunes as well
