"""Where a reader of the plan stands who types its commands one after the other."""

from __future__ import annotations

import re

from execplan.execution.inference.directory_mentions import ROOT, DirectoryMention, DirectoryResolver
from execplan.execution.inference.prose_cues import split_sentences
from execplan.execution.inference.shell_line import mask_quotes
from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.execution.inference.passages import Passage
    from execplan.plan.model import ParsedPlan

_UNCLEAR_DIRECTORY = "runs in a folder that is told in words, or that lies outside the repository"
_SOME_COMMANDS = re.compile(
    r"\b(?:the (?:first|second|third|last|final|other|remaining)|except)\b(?! time)", re.IGNORECASE
)
"""Words that give one folder to some commands and another to others."""
_DIRECTORY_NOT_STATED = "comes behind steps in another folder, and none is told"
_UNCERTAIN_DIRECTORY = "runs in a folder that is not sure"


class LocatedCommand(NamedTuple):
    """A command without the `cd` before it."""

    directory: str | None
    """None when that is not sure."""
    command: str


class CwdEstimate(NamedTuple):
    """A folder to type commands in."""

    directory: str | None
    """For a command as it stands; None when it is not sure."""
    cd_base: str | None
    """For one with a `cd` of its own before it: plans write these as if each began at the same place."""
    reason: str
    """Why it is not sure."""


class CwdTracker:
    """The folder that the plan is in, as far as was read."""

    def __init__(self, plan: ParsedPlan) -> None:
        self.resolver = DirectoryResolver(plan)
        self._current = CwdEstimate(ROOT, ROOT, "")
        self._stale_texts: frozenset[str] = frozenset()
        """Words that told a folder before a block went to another, and so tell nothing of what follows."""
        self._global_directory: str | None = None
        """Where every block begins, when the plan says so of all commands."""
        self._heading_lines: tuple[int, ...] = ()
        self._mention_heading = -1
        """The heading under which the folder was told that the plan is in."""
        self._last_directory = ""
        """The folder that the last commands were left in."""
        self._entered_directory = ""
        """The first part of the folder that was gone to from the root: who names it again counts from the root again."""

    def start_section(self) -> None:
        """Go on to another section: a folder other than the root is not taken along."""
        if self._current.directory != ROOT:
            self._current = CwdEstimate(None, self._global_directory, _DIRECTORY_NOT_STATED)

    def remember_mention(self, mention: DirectoryMention) -> None:
        """Take note of a sentence that tells a folder for what follows."""
        if mention.is_lasting or mention.directory == ROOT:
            self._current = self.estimate_cwd(mention)
            self._mention_heading = self._heading_lines[-1] if self._heading_lines else -1
            self._stale_texts = frozenset()

    def enter_headings(self, heading_lines: tuple[int, ...]) -> None:
        """Go on under these headings: a folder that was told under another one is not taken along."""
        if self._mention_heading >= 0 and self._mention_heading not in heading_lines:
            if self._current.directory not in (None, ROOT):
                self._current = CwdEstimate(None, None, _DIRECTORY_NOT_STATED)
            self._global_directory = ROOT if self._global_directory == ROOT else None
            self._mention_heading = -1
        self._heading_lines = heading_lines

    def find_mention(self, passage: Passage) -> DirectoryMention | None:
        """The folder that the words around a place tell, the nearest first."""
        for text in passage.context:
            if text in self._stale_texts:
                continue
            mentions = [
                mention
                for sentence in split_sentences(text)
                if (mention := self.resolver.find_mention(sentence)) is not None
            ]
            if len({mention.directory for mention in mentions}) > 1 and _SOME_COMMANDS.search(text):
                return DirectoryMention(None)
            if mentions:
                return mentions[-1]
        return None

    def estimate_cwd(self, mention: DirectoryMention | None) -> CwdEstimate:
        """Where commands are typed of which words tell that, or nothing."""
        if mention is None:
            return self._current
        if mention.is_global:
            self._global_directory = mention.directory
        return CwdEstimate(
            mention.directory, mention.directory, "" if mention.directory is not None else _UNCLEAR_DIRECTORY
        )

    def apply_comment(self, comment: str, cwd: CwdEstimate) -> CwdEstimate:
        """Where commands are typed behind a comment of their block, which may tell a folder."""
        mention = self.resolver.find_mention(comment)
        return (
            cwd
            if mention is None
            else CwdEstimate(
                mention.directory, mention.directory, "" if mention.directory is not None else _UNCLEAR_DIRECTORY
            )
        )

    def record_passage(
        self, passage: Passage, mention: DirectoryMention | None, start_cwd: CwdEstimate, end_cwd: CwdEstimate
    ) -> None:
        """Take note of where the commands of a place have led."""
        if end_cwd.directory == ROOT and start_cwd.directory != ROOT and mention is None:
            self.remember_mention(DirectoryMention(ROOT))
        elif end_cwd != start_cwd or (mention is not None and mention.directory != ROOT and not mention.is_lasting):
            movement = f"goes to {end_cwd.directory}" if end_cwd.directory else "goes to another folder"
            reason = end_cwd.reason or f"comes behind line {passage.start + 1}, which {movement}, and none is told"
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
        """Take note of a fence with attributes: what follows one in another folder may be meant to run there too."""
        if directory not in (ROOT, self._current.directory):
            reason = f"comes behind line {passage.start + 1}, which runs in {directory}, and none is told"
            self._current = CwdEstimate(None, self._global_directory, reason)
            self._stale_texts = frozenset(passage.context)

    def resolve_cd(self, target: str, cwd: CwdEstimate, start_cwd: CwdEstimate) -> str | None:
        """Where `cd` leads; a second one that goes deeper may mean a folder from where the block began."""
        target = target.strip()
        if target[:1] in "/~" or target[1:3] == ":\\":
            return self.resolver.resolve(target)
        if cwd.directory != start_cwd.directory and not target.startswith(".."):
            return None
        return self.resolver.resolve(target, cwd.directory if cwd != start_cwd else self._cd_start(target, cwd))

    def _cd_start(self, target: str, cwd: CwdEstimate) -> str | None:
        """From where a `cd` leads with which a block begins."""
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
        """A command without the `cd` that begins it, and where it is typed; such a `cd` is for its own line only."""
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
    """Where whoever typed a lone `cd` stands then."""
    return CwdEstimate(
        None, cwd.cd_base, f"comes behind line {line + 1}, which goes to another folder, and none is told"
    )


def named_directory_reason(located: LocatedCommand) -> str:
    """Why a folder that words tell may be that of what the command names, and not where it is run; or nothing."""
    prefix = f"{located.directory}/"
    arguments = [argument.strip("\"'").removeprefix("./") for argument in located.command.split()]
    if located.directory in (None, ROOT) or not any([argument.startswith(prefix) for argument in arguments]):
        return ""
    return f"names {prefix} itself, and so may run in the folder above"


def uncertainty_reason(cwd: CwdEstimate) -> str:
    """Why a folder is not sure."""
    return cwd.reason or _UNCERTAIN_DIRECTORY
