"""Repository paths in a plan's code spans, and text that explains why a path may be missing."""

from __future__ import annotations

from itertools import islice

from execplan.core.plan import outline
from execplan.linter.phrases_data import DATA

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan
    from execplan.linter.plan_source import PlanSource, TextSpan
    from execplan.linter.rule import RuleContext

DIRECTORY_ANYWHERE_PHRASES: tuple[str, ...] = DATA["directory_anywhere"]
ROOT_PHRASES: tuple[str, ...] = DATA["root"]
DIRECTORY_PHRASES: tuple[str, ...] = DATA["directory"]
RESULT_PHRASES: tuple[str, ...] = DATA["result"]
PROOF_PHRASES: tuple[str, ...] = DATA["proof"]
MANUAL_CHECK_PHRASES: tuple[str, ...] = DATA["manual_check"]
WARNING_PHRASES: tuple[str, ...] = DATA["warning"]
OUTCOME_PHRASES: tuple[str, ...] = DATA["outcome"]
ALL_MILESTONES_PHRASES: tuple[str, ...] = DATA["all_milestones"]
DEPENDENCY_PHRASES: tuple[str, ...] = DATA["dependency"]
MISSING_PATH_PHRASES: tuple[str, ...] = DATA["missing_path"]
MISSING_SYMBOL_PHRASES: tuple[str, ...] = DATA["missing_symbol"]


_RECORD_SECTIONS = (outline.SURPRISES, outline.DECISIONS, outline.OUTCOMES, outline.ARTIFACTS)
"""Sections that record events and name files only as evidence."""

_MAX_PATH_LENGTH = 300


def find_named_paths(plan: ParsedPlan, source: PlanSource) -> dict[str, TextSpan]:
    """Return each path that makes up a code span, with its first place. Git decides which of them exist."""
    is_excluded = bytearray(len(plan.text.lines) + 1)
    for section in plan.sections:
        if section.name in _RECORD_SECTIONS:
            is_excluded[section.start : section.end] = b"\1" * (section.end - section.start)
        is_excluded[section.notes_start : section.end] = b"\1" * (section.end - section.notes_start)
    spans: dict[str, TextSpan] = {}
    for span in source.code_spans:
        if not is_excluded[span.line] and len(span.text) < _MAX_PATH_LENGTH:
            path = extract_path(span.text)
            if path:
                spans.setdefault(path, span)
    return spans


def extract_path(text: str) -> str:
    """Return the path in a code span without its line or test suffix; empty if it is no path."""
    path = text.partition("::")[0].partition("#")[0].removeprefix("./")
    while ":" in path and path.rpartition(":")[2].strip("0123456789-,") == "":
        path = path.rpartition(":")[0]
    is_file = "/" in path or "." in path.strip(".") or path[:1].isupper()  # Makefile, LICENSE
    return path if is_file and not path.startswith("/") and not path.endswith("/") else ""


_NON_PATH_CHARACTERS = frozenset("*?{}<>$|&;=,\"'\\:~%!^#@… \t")
_FILE_EXTENSIONS = frozenset(
    (
        "adoc bash bat c cc cfg cjs clj cljc cljs cmake cpp cs css csv cts cu dart ex exs fish go gradle graphql h hcl hpp hs html "
        "ini ino java jl js json json5 jsonl jsx kt kts lean less lock lua m md mdx mjs mm mod mts nix php pl plist po prisma proto "
        "ps1 py pyi r rb rego rs rst sass scala scss sh slang sol sql sum svelte svg swift tf tmpl toml ts tsv tsx txt typ vue wgsl "
        "xml yaml yml zig zsh"
    ).split()
)
_GENERATED_DIRECTORIES = frozenset(
    (
        "node_modules target dist build out output outputs var tmp temp logs log .venv venv coverage artifacts artifact .next .git "
        ".cache cache __pycache__ data generated results reports bin obj runs .turbo vendor release releases path to foo bar"
    ).split()
)
"""Directories that are generated, not committed, or used in examples."""
_DOMAINS = (".com", ".org", ".io", ".dev", ".net", ".ai", ".app", ".sh", ".rs", ".xyz")
_MAX_MENTIONS = 50
"""Maximum number of mentions checked per name."""


def repository_path(text: str) -> str:
    """Return the file or directory path in a code span, relative to any directory; empty for other text."""
    path = text.removeprefix("./")
    if "/" not in path or "//" in path:
        return ""
    head, colon, tail = path.partition(":")
    if colon and (tail.startswith(":") or tail.replace("-", "").replace(":", "").isdigit()):
        path = head
    path = path.partition("#")[0]
    if not path.isascii() or path.startswith(("..", "/")) or "..." in path or _NON_PATH_CHARACTERS.intersection(path):
        return ""
    parts = path.rstrip("/").split("/")
    if parts[0].endswith(_DOMAINS) or _GENERATED_DIRECTORIES.intersection(parts):
        return ""
    if any(["YYYY" in part or "NNN" in part or "XXX" in part or not part for part in parts]):
        return ""
    stem, dot, extension = parts[-1].rpartition(".")
    if path.endswith("/"):
        return path.rstrip("/") if len(parts) > 1 else ""
    return path if dot and stem and extension in _FILE_EXTENSIONS else ""


class MissingPathExcuses:
    """A cache of the text around each line of a plan, and of the phrases in it that say why a path may be missing."""

    __slots__ = ("_contexts", "_lines", "_source")

    def __init__(self, plan: ParsedPlan, context: RuleContext) -> None:
        self._lines = plan.text.lines
        self._source = context.source
        self._contexts: dict[int, tuple[str, list[str]]] = {}

    def is_excused(self, path: str) -> bool:
        """Return whether text near any mention of a path says that it may be missing."""
        name = path.rpartition("/")[2]
        folded = name.casefold()
        for at in {at for at, _ in islice(self._source.find_all(name), _MAX_MENTIONS)}:
            if at not in self._contexts:
                text = self._read_context(at)
                self._contexts[at] = text, [phrase for phrase in MISSING_PATH_PHRASES if phrase in text]
            nearby_text, phrases = self._contexts[at]
            if phrases:
                bare_text = nearby_text.replace(folded, " ")
                if any([phrase in bare_text for phrase in phrases]):
                    return True
        return False

    def _read_context(self, at: int) -> str:
        """Return the text around a line and its introduction: the preceding heading or line that ends with a colon."""
        lines = self._lines
        low = at
        while low > 0 and at - low < 3 and lines[low - 1].strip() and lines[low - 1][:1] != "#":
            low -= 1
        nearby_text = " ".join(lines[low : at + 2]).casefold()
        for up in range(low - 1, max(low - 15, -1), -1):
            line = lines[up].rstrip()
            if line.endswith((":", "：")) or line[:1] == "#":
                return nearby_text + " " + line.casefold()
        return nearby_text
