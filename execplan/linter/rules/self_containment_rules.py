"""EP4 rules about self-containment: machine-specific paths, missing files, and knowledge available only by link."""

from __future__ import annotations

from bisect import bisect_right

from execplan.core.plan import outline
from execplan.core.text.markdown_blocks import CODE, FENCE, PARAGRAPH
from execplan.linter.rule import TREE, WARNING, RuleContext, RuleMatch, on_line, on_span, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import ParsedPlan
    from execplan.core.text.markdown_blocks import Block


_HOME_PREFIXES = ("/Users/", "/home/")
_MOUNT, _ROOT = "/mnt/", "/root/"
_DRIVE = ":\\"
_PATH_TERMINATORS = frozenset(" \t\n`\"'()[]<>{}|,;*")
_PLACEHOLDER_NAMES = frozenset(
    "app circleci coder codespace dev developer example gitpod jovyan linuxbrew me my-user myname name node runner shared "
    "some-user someone u ubuntu user username vagrant vscode you your-name your-user yourname youruser".split()
)
"""User names that identify no one: placeholders, and users in container images."""
_SYSTEM_DIRECTORIES = ("program files", "windows", "programdata", "temp", "tmp", "path", "msys", "tools", "vcpkg")
_PATH_CHARACTERS = frozenset("/._-~$}>*+@%:")


def find_user_directories(source: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of paths to a user's directory, which exist on a single machine only."""
    for start in _HOME_PREFIXES:
        at = source.find(start)
        while at >= 0:
            end = _name_end(source, at + len(start), "/")
            name = source[at + len(start) : end]
            if (
                _is_user_name(name)
                and _starts_path(source, at)
                and (start == "/Users/" or source[end : end + 1] == "/")
            ):
                yield at, end
            at = source.find(start, at + len(start))
    at = source.find(_ROOT)
    while at >= 0:
        end = _name_end(source, at + len(_ROOT), "/")
        if source[at + len(_ROOT) : end][:1].isalnum() and _starts_path(source, at):
            yield at, end
        at = source.find(_ROOT, at + len(_ROOT))
    yield from _wsl_directories(source)
    yield from _windows_directories(source)


def _windows_directories(source: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of Windows directories that exist on a single machine only."""
    at = source.find(_DRIVE) if "\\" in source else -1  # searching for a single character is ten times as fast
    while at >= 0:
        end = _name_end(source, at + 2, "\\")
        name = source[at + 2 : end].lower()
        if at and source[at - 1].isalpha() and source[at - 1].isupper() and (at < 2 or not source[at - 2].isalnum()):
            if name == "users":
                user = _name_end(source, end + 1, "\\") if source[end : end + 1] == "\\" else end
                if user > end + 1 and _is_user_name(source[end + 1 : user]):
                    yield at - 1, user
            elif not name.startswith(_SYSTEM_DIRECTORIES) and _is_folder(source[at - 1], name, source[end : end + 1]):
                yield at - 1, end
        at = source.find(_DRIVE, at + 2)


def _is_folder(drive: str, name: str, next_char: str) -> bool:
    """Return whether a directory name follows a drive: before other names, or alone if it is no newline escape."""
    if next_char == "\\":
        return len(name) > 1
    is_plain_name = name.replace("-", "").replace("_", "").isalnum()
    return drive in "CDEFGH" and len(name) > 2 and is_plain_name and name[0] not in "nrt" and name != "program"


def _wsl_directories(source: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of Windows user directories as Linux mounts them: `/mnt/c/Users/ann`."""
    at = source.find(_MOUNT)
    while at >= 0:
        users = at + len(_MOUNT) + 1
        if source[users : users + 7] == "/Users/" and source[users - 1].isalpha() and _starts_path(source, at):
            end = _name_end(source, users + 7, "/")
            if _is_user_name(source[users + 7 : end]):
                yield at, end
        at = source.find(_MOUNT, at + len(_MOUNT))


def _name_end(source: str, at: int, mark: str) -> int:
    """Return the end of the name that starts at an offset."""
    begin = at
    while at < len(source) and at - begin < 80 and source[at] != mark and source[at] not in _PATH_TERMINATORS:
        at += 1
    return at


def _is_user_name(name: str) -> bool:
    """Return whether a directory name is a user's name rather than a placeholder."""
    bare = name.rstrip(".:")
    return bare.lower() not in _PLACEHOLDER_NAMES and bare[:1].isalnum() and bare.isascii() and "…" not in bare


def _starts_path(source: str, at: int) -> bool:
    """Return whether a path starts at an offset, rather than continuing a URL or a longer path."""
    if not at:
        return True
    previous_char = source[at - 1]
    return not previous_char.isalnum() and (
        previous_char not in _PATH_CHARACTERS or source.startswith("file://", max(at - 7, 0))
    )


_RECORD_SECTIONS = (*outline.LIVING, outline.ARTIFACTS)
_KNOWLEDGE_SECTIONS = (
    outline.PURPOSE,
    outline.CONTEXT,
    outline.WORK,
    outline.STEPS,
    outline.VALIDATION,
    outline.INTERFACES,
)
_MAX_MISSING_PATHS = 200
"""Maximum number of missing paths in a plan; with more, the plan is about another repository."""
_MAX_PARAGRAPH_LINES = 5
"""Number of lines of a paragraph that are checked; a longer paragraph has content besides its links."""


@rule("EP401", WARNING)
def machine_specific_path(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A path exists on one machine only.

    For the next person, or an agent in a container, the repository is in another directory. Write paths relative to
    its root, and "the root of the repository" for the root itself. Command output in a code block of a log or of
    Artifacts and Notes can stay as it is.

    Bad:
        ## Concrete Steps

        In `/home/ann/src/parser`, `make test` prints `12 passed`.
    Good:
        ## Concrete Steps

        In the root of the repository, `make test` prints `12 passed`.
    """
    first_positions: dict[str, tuple[int, int]] = {}
    counts: dict[str, int] = {}
    source = context.source.text
    starts = [section.start for section in plan.sections]
    for start, end in find_user_directories(source):
        user_home = source[start:end]
        line, column = context.source.position_of(start)
        if (
            user_home not in first_positions
            and context.source.inert_lines[line]
            and _is_in_record_section(plan, starts, line)
        ):
            continue
        first_positions.setdefault(user_home, (line, column))
        counts[user_home] = counts.get(user_home, 0) + 1
    for user_home, (line, column) in first_positions.items():
        times = f" ({counts[user_home]} times)" if counts[user_home] > 1 else ""
        yield RuleMatch(
            f"{user_home} exists on one machine only{times}", line, column, line + 1, column + len(user_home)
        )


def _is_in_record_section(plan: ParsedPlan, starts: list[int], line: int) -> bool:
    """Return whether a line is in a section that records events."""
    at = bisect_right(starts, line) - 1
    return at >= 0 and plan.sections[at].name in _RECORD_SECTIONS


@rule("EP402", WARNING, needs=TREE, in_archive=False)
def missing_path(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """Context and Orientation names a file that is not in the repository.

    The section tells a newcomer where things are, so a wrong path is worse than none: the file was moved, or
    misspelled, or doesn't exist yet. A path is not reported if the plan says, near any mention of it, that it is
    new, removed, generated or elsewhere.

    Bad (has src/reader.py):
        ## Context and Orientation

        The reader is `src/raeder.py`.
    Good (has src/reader.py):
        ## Context and Orientation

        The reader is `src/reader.py`.
    """
    section, tree = plan.section(outline.CONTEXT), context.tree
    if section is None or tree is None:
        return
    from execplan.linter.plan_paths import MissingPathExcuses, repository_path

    folder = context.path.rpartition("/")[0]
    excuses = MissingPathExcuses(plan, context)
    missing = 0
    seen_paths = set()
    for span in context.source.code_spans_in(section.body_start, section.end):
        path = repository_path(span.text) if "/" in span.text else ""
        if not path or path in seen_paths:
            continue
        seen_paths.add(path)
        if tree.has_path(path) or (folder and tree.has_path(f"{folder}/{path}")):
            continue
        missing += 1
        if missing > _MAX_MISSING_PATHS:
            return
        if excuses.is_excused(path) or tree.has_path_suffix(path):
            continue
        if context.source.is_code_span(span):
            message = f"{path} is not in the repository, and the plan doesn't say that it is new"
            yield on_span(span, message)


@rule("EP403", WARNING)
def knowledge_only_in_link(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """Knowledge that a newcomer needs is only available by link.

    The page can move, require a login, or change. Summarize the relevant part in the plan, in your own words; the
    link can stay.

    Bad:
        ## Context and Orientation

        See [the design](https://wiki.example.org/parser/design) for details.
    Good:
        ## Context and Orientation

        A plan is read in two passes: blocks first, then the sections that they make up. `src/reader.py` does both.
        The design is [written down](https://wiki.example.org/parser/design) with the forms that were tried.
    """
    source = context.source.text
    if "://" not in source or ("https://" not in source and "http://" not in source):
        return
    from execplan.linter.plan_links import is_link_only, is_pointer

    for section in plan.sections:
        if section.name not in _KNOWLEDGE_SECTIONS:
            continue
        blocks = plan.blocks[section.first_block : section.block_end]
        texts = [(block.start, _paragraph_text(plan, block)) for block in blocks if block.kind == PARAGRAPH]
        link_lines = [at for at, text in texts if "://" in text and is_pointer(text)]
        if not link_lines and texts and all([is_link_only(text) for _, text in texts]):
            link_lines = [texts[0][0]] if not any([block.kind in (FENCE, CODE) for block in blocks]) else []
        for at in link_lines:
            yield on_line(plan, at, "this knowledge is only available by link; summarize it in the plan")


def _paragraph_text(plan: ParsedPlan, block: Block) -> str:
    """Return the text of a paragraph, limited to its first lines."""
    lines = plan.text.lines[block.start : min(block.end, block.start + _MAX_PARAGRAPH_LINES)]
    return " ".join([line.strip() for line in lines])
