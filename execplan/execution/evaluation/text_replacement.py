"""Replacement of a text in files: where it is, how often, and the bytes of each file afterward."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.text.message_parts import format_count, shorten
from execplan.execution.evaluation.bounded_regex import Match, find_matches
from execplan.execution.execution_plan import Replacement
from execplan.execution.world import FILE, World

MAX_SEARCHED_BYTES = 8 << 20
"""Size limit in bytes of a file that is searched: a larger one can't be shown."""
_MAX_REGEX_BYTES = 64 << 20
"""Size limit in bytes of all files that are searched for a regular expression."""
_MAX_NAMED_FILES = 20
"""Limit on the files that a message names."""


class FileText(NamedTuple):
    """The text of a file as it is searched."""

    text: str
    is_crlf: bool
    """Whether all its lines end with CRLF; in the text they end with LF."""
    is_utf8: bool = True

    def encode(self, text: str) -> bytes:
        """Return the bytes of another text with the line ends and the encoding of the file."""
        return (text.replace("\n", "\r\n") if self.is_crlf else text).encode("utf-8" if self.is_utf8 else "latin-1")


def decode(data: bytes) -> FileText | None:
    """Return the text of a file, or None if it is binary."""
    if b"\0" in data:
        return None
    try:
        text, is_utf8 = data.decode("utf-8"), True
    except UnicodeDecodeError:
        text, is_utf8 = data.decode("latin-1"), False
    is_crlf = "\r\n" in text and text.count("\r\n") == text.count("\n") == text.count("\r")
    return FileText(text.replace("\r\n", "\n") if is_crlf else text, is_crlf, is_utf8)


def search(replacement: Replacement, texts: Sequence[str]) -> list[list[Match]]:
    """Return the matches in each text. Raises ExecplanError if the regular expression fails or is too slow."""
    if replacement.regex and texts:
        return find_matches(replacement.find, replacement.with_, texts)
    return [list(_find_literal(replacement, text)) for text in texts]


def _find_literal(replacement: Replacement, text: str) -> Iterator[Match]:
    at = text.find(replacement.find)
    while at >= 0:
        end = at + len(replacement.find)
        yield at, end, replacement.with_
        at = text.find(replacement.find, end)


def replace_matches(text: str, matches: Sequence[Match]) -> str:
    """Return a text with its matches replaced."""
    pieces, at = [], 0
    for start, end, new in matches:
        pieces += [text[at:start], new]
        at = end
    return "".join([*pieces, text[at:]])


def is_partially_replaced(before: str, after: str, matches: Sequence[Match]) -> bool:
    """Return whether a text results from replacing any of its matches, even none or all."""
    ends, at = {0}, 0  # possible lengths of the later text that is read so far
    for start, end, new in matches:
        between = before[at:start]
        ends = {length + len(between) for length in ends if after.startswith(between, length)}
        variants = (before[start:end], new)
        ends = {length + len(text) for length in ends for text in variants if after.startswith(text, length)}
        at = end
    return any([after[length:] == before[at:] for length in ends])


def find_texts(replacement: Replacement, world: World) -> list[str]:
    """Return the files that have the text of a replacement, in order. Raises ExecplanError."""
    matching_paths: list[str] = []
    texts: dict[str, str] = {}
    size = 0
    for path in world.find_files(replacement.paths):
        state = world.state(path)
        if state.kind != FILE or not state.sha256 or state.size > MAX_SEARCHED_BYTES:
            continue
        file_text = decode(world.read(path))
        if file_text is None:
            continue
        if not replacement.regex:
            matching_paths += [path] if replacement.find in file_text.text else []
            continue
        texts[path] = file_text.text
        size += state.size
        if size > _MAX_REGEX_BYTES:
            message = f"{', '.join(replacement.paths)} match more than {_MAX_REGEX_BYTES >> 20} MB of text"
            raise ExecplanError("bad-regex", message, hint="name fewer files in `paths`")
    return matching_paths + [
        path for path, matches in zip(texts, search(replacement, [*texts.values()]), strict=True) if matches
    ]


def count_problem(replacement: Replacement, counts: Mapping[str, int]) -> str:
    """Return how the number of matches differs from the expected one, file by file, or an empty string."""
    total = sum(counts.values())
    if total == replacement.count:
        return ""
    count_texts = [f"{path} {count}" for path, count in counts.items() if count]
    more = f", and {len(count_texts) - _MAX_NAMED_FILES} more files" if len(count_texts) > _MAX_NAMED_FILES else ""
    places = (
        f": {', '.join(count_texts[:_MAX_NAMED_FILES])}{more}" if count_texts else f" in {', '.join(replacement.paths)}"
    )
    return f"{format_search(replacement)} occurs {format_count(total, 'time')}, not {replacement.count:,}{places}"


def format_search(replacement: Replacement) -> str:
    """Return what is searched for, on one line."""
    kind = "the regular expression " if replacement.regex else ""
    return f"{kind}`{shorten(' '.join(replacement.find.split()) or repr(replacement.find), 60)}`"
