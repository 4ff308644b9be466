"""Inference of the working directory of each command, as for a reader who enters the commands in order."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.model import ParsedPlan
from execplan.execution.inference.directory_mentions import ROOT, DirectoryMention, DirectoryResolver
from execplan.execution.inference.prose_cues import find_cue, split_sentences
from execplan.execution.inference.section_passages import Passage
from execplan.execution.inference.shell_line import mask_quotes

_UNCLEAR_DIRECTORY = "runs in a directory that is described in prose or is outside the repository"
_DIRECTORY_NOT_STATED = "comes after steps in another directory, and doesn't state its own directory"
_UNCERTAIN_DIRECTORY = "runs in an uncertain directory"


class LocatedCommand(NamedTuple):
    """A command without its leading `cd`, and the directory in which it runs."""

    directory: str | None
    """Directory of the command, or None if it is uncertain."""
    command: str


class CwdEstimate(NamedTuple):
    """The directory in which commands run at a point of the plan."""

    directory: str | None
    """Directory for a command as written, or None if it is uncertain."""
    cd_base: str | None
    """Base for a command with its own leading `cd`: plans write these as if each started at the same place."""
    reason: str
    """Reason why the directory is uncertain."""


class CwdTracker:
    """Tracks the working directory while a plan is read."""

    def __init__(self, plan: ParsedPlan) -> None:
        self.resolver = DirectoryResolver(plan)
        self._current = CwdEstimate(ROOT, ROOT, "")
        self._stale_texts: frozenset[str] = frozenset()
        """Texts that named a directory before a block changed it, and so say nothing about what follows."""
        self._global_directory: str | None = None
        """Directory where every block starts, if the plan states one for all commands."""
        self._heading_lines: tuple[int, ...] = ()
        self._mention_heading = -1
        """Line of the heading under which the current directory was named."""
        self._last_directory = ""
        """Directory after the last commands."""
        self._entered_directory = ""
        """First part of the last directory entered from the root; a path that starts with it counts from the root."""

    def start_section(self) -> None:
        """Start another section; a directory other than the root does not carry over."""
        if self._current.directory != ROOT:
            self._current = CwdEstimate(None, self._global_directory, _DIRECTORY_NOT_STATED)

    def remember_mention(self, mention: DirectoryMention) -> None:
        """Record a sentence that names the directory for what follows."""
        if mention.is_lasting or mention.directory == ROOT:
            self._current = self.estimate_cwd(mention)
            self._mention_heading = self._heading_lines[-1] if self._heading_lines else -1
            self._stale_texts = frozenset()

    def enter_headings(self, heading_lines: tuple[int, ...]) -> None:
        """Enter the given headings; a directory named under another heading does not carry over."""
        if self._mention_heading >= 0 and self._mention_heading not in heading_lines:
            if self._current.directory not in (None, ROOT):
                self._current = CwdEstimate(None, None, _DIRECTORY_NOT_STATED)
            self._global_directory = ROOT if self._global_directory == ROOT else None
            self._mention_heading = -1
        self._heading_lines = heading_lines

    def find_mention(self, passage: Passage) -> DirectoryMention | None:
        """Return the directory named in the text around a passage, nearest first, or None."""
        for text in passage.context:
            if text in self._stale_texts:
                continue
            mentions = [
                mention
                for sentence in split_sentences(text)
                if (mention := self.resolver.find_mention(sentence)) is not None
            ]
            if len({mention.directory for mention in mentions}) > 1 and find_cue("some_commands", text):
                return DirectoryMention(None)
            if mentions:
                return mentions[-1]
        return None

    def estimate_cwd(self, mention: DirectoryMention | None) -> CwdEstimate:
        """Return the directory for commands with the given mention, or the current one without a mention."""
        if mention is None:
            return self._current
        if mention.is_global:
            self._global_directory = mention.directory
        return CwdEstimate(
            mention.directory, mention.directory, "" if mention.directory is not None else _UNCLEAR_DIRECTORY
        )

    def apply_comment(self, comment: str, cwd: CwdEstimate) -> CwdEstimate:
        """Return the directory after a comment of a block, which may name one."""
        mention = self.resolver.find_mention(comment)
        if mention is None:
            return cwd
        return CwdEstimate(
            mention.directory, mention.directory, "" if mention.directory is not None else _UNCLEAR_DIRECTORY
        )

    def record_passage(
        self, passage: Passage, mention: DirectoryMention | None, start_cwd: CwdEstimate, end_cwd: CwdEstimate
    ) -> None:
        """Record the directory in which a passage's commands end."""
        if end_cwd.directory == ROOT and start_cwd.directory != ROOT and mention is None:
            self.remember_mention(DirectoryMention(ROOT))
        elif end_cwd != start_cwd or (mention is not None and mention.directory != ROOT and not mention.is_lasting):
            movement = f"changes to {end_cwd.directory}" if end_cwd.directory else "changes to another directory"
            reason = (
                end_cwd.reason
                or f"comes after line {passage.start + 1}, which {movement}, and doesn't state its own directory"
            )
            self._current = CwdEstimate(
                None, end_cwd.cd_base if end_cwd.directory is None else self._global_directory, reason
            )
            self._last_directory = end_cwd.directory or ""
            self._entered_directory = (
                end_cwd.directory.partition("/")[0] if end_cwd.directory else self._entered_directory
            )
            passage_text = " ".join([line for _, line in passage.lines])
            self._stale_texts = frozenset((*passage.context, passage_text))
        elif mention is not None:
            self.remember_mention(mention)

    def record_annotated_fence(self, passage: Passage, directory: str) -> None:
        """Record an annotated code block; if it runs in another directory, later commands may be meant for it too."""
        if directory not in (ROOT, self._current.directory):
            reason = (
                f"comes after line {passage.start + 1}, which runs in {directory}, and doesn't state its own directory"
            )
            self._current = CwdEstimate(None, self._global_directory, reason)
            self._stale_texts = frozenset(passage.context)

    def resolve_cd(self, target: str, cwd: CwdEstimate, start_cwd: CwdEstimate) -> str | None:
        """Return the target of a `cd`, or None if it is uncertain.

        A second `cd` that goes deeper may be meant relative to the start of the block.
        """
        target = target.strip()
        if target[:1] in "/~" or target[1:3] == ":\\":
            return self.resolver.resolve(target)
        if cwd.directory != start_cwd.directory and not target.startswith(".."):
            return None
        return self.resolver.resolve(target, cwd.directory if cwd != start_cwd else self._cd_start(target, cwd))

    def _cd_start(self, target: str, cwd: CwdEstimate) -> str | None:
        """Return the directory from which the first `cd` of a block starts."""
        if (
            cwd.directory is None
            and self._last_directory
            and target.startswith("..")
            and self.resolver.resolve(target) is None
        ):
            return self._last_directory  # from the root it would lead out of the repository
        if cwd.directory is not None:
            return ROOT if self.resolver.resolve(target) == cwd.directory else cwd.directory
        top_level = target.strip("\"'").removeprefix("./").partition("/")[0]
        return ROOT if top_level and top_level == self._entered_directory else cwd.cd_base

    def locate(self, command: str, cwd: CwdEstimate) -> LocatedCommand:
        """Return a command without its leading `cd`, and its directory; such a `cd` applies only to its own line."""
        bare_command = command
        masked_command = mask_quotes(bare_command) or bare_command
        if masked_command.startswith("(") and masked_command.endswith(")") and masked_command.count("(") == 1:
            bare_command, masked_command = bare_command[1:-1].strip(), masked_command[1:-1].strip()
        if not masked_command.startswith("cd ") or "&&" not in masked_command:
            return LocatedCommand(cwd.directory, command)
        at = masked_command.index("&&")
        target = bare_command[3:at].strip()
        uses_cd_base = cwd.cd_base is None or cwd.cd_base == cwd.directory == self.resolver.resolve(target)
        directory = self.resolver.resolve(target, self._cd_start(target, cwd) if uses_cd_base else cwd.cd_base)
        return LocatedCommand(directory, bare_command[at + 2 :].strip())


def cwd_after_lone_cd(cwd: CwdEstimate, line: int) -> CwdEstimate:
    """Return the estimate for commands after a `cd` on its own."""
    return CwdEstimate(
        None,
        cwd.cd_base,
        f"comes after line {line + 1}, which changes to another directory, and doesn't state its own directory",
    )


def named_directory_reason(located: LocatedCommand) -> str:
    """Return why a named directory may be a command's subject, not its working directory, or an empty string."""
    prefix = f"{located.directory}/"
    arguments = [argument.strip("\"'").removeprefix("./") for argument in located.command.split()]
    if located.directory in (None, ROOT) or not any([argument.startswith(prefix) for argument in arguments]):
        return ""
    return f"refers to {prefix} itself, so it may run in the parent directory"


def uncertainty_reason(cwd: CwdEstimate) -> str:
    """Return why the directory is uncertain."""
    return cwd.reason or _UNCERTAIN_DIRECTORY
