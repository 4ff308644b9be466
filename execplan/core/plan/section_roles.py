"""What the sections of a plan are for, by their titles, in the languages and forms in which people write plans."""

from __future__ import annotations

from execplan.core.plan import outline
from execplan.core.plan.role_table import TITLES, WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

    from execplan.core.plan.model import Section, Task

TASKS: Final = "tasks"
VALIDATION: Final = "validation"
STATUS: Final = "status"
PURPOSE: Final = "purpose"
DECISIONS: Final = "decisions"
DISCOVERIES: Final = "discoveries"
OUTCOMES: Final = "outcomes"
CONTEXT: Final = "context"
SCOPE: Final = "scope"
RISKS: Final = "risks"
QUESTIONS: Final = "questions"
RECOVERY: Final = "recovery"
INTERFACES: Final = "interfaces"
COMMANDS: Final = "commands"
APPROACH: Final = "approach"
PLAN_ROLES = frozenset((TASKS, VALIDATION, STATUS, "next_step"))
"""Roles of sections that only plans have; designs and notes have the others, too."""

_LOGS = {DECISIONS: outline.DECISIONS, DISCOVERIES: outline.SURPRISES, OUTCOMES: outline.OUTCOMES}
"""Standard names of sections that are logs, by role."""
STEP_WORDS = tuple(
    "task step item phase milestone stage chunk batch slice iteration sprint wave 任务 步骤 阶段 里程碑 批次 フェーズ タスク ステップ "
    "단계 작업 aufgabe schritt étape tâche fase tarea paso tarefa passo этап шаг задача".split()
)
"""First words of headings for one numbered part of the work, as in `Task 3: Parser` and `阶段 2`."""
_NUMERALS = "0123456789.一二三四五六七八九十"
_FIRST_CJK = "\u2e80"
"""First character of the scripts without spaces between words: in these, a word is found anywhere."""
_ROLES_BY_TITLE = {title: role for role, titles in TITLES.items() for title in titles}


def find_role(title: str, own: Mapping[str, str]) -> str | None:
    """Return the role of a section with this title, one of the names in `roles.toml`, or None.

    A number in front of the title is dropped. `Task 3: Parser` and the like have the role `tasks`. `own` has the titles
    of the repository, which `Text.titles` keeps.
    """
    key = outline.title_key(title)
    return (
        (own and (own.get(key) or own.get(_without_number(key))))
        or _ROLES_BY_TITLE.get(key)
        or _ROLES_BY_TITLE.get(_without_number(key))
        or (TASKS if _is_numbered_part(key) else None)
    )


def name_logs(sections: list[Section], tasks: list[Task], own: Mapping[str, str]) -> list[Section]:
    """Return the sections of a plan in another form, those for decisions, discoveries and outcomes with the standard names.

    Entries are then read from there, and added there. Sections with tasks are no logs. `own` is as in `find_role`.
    """
    used_names = {section.name for section in sections}
    named_sections = []
    for section in sections:
        name = _LOGS.get(find_role(section.title, own) or "") if section.name is None else None
        is_log = name not in (None, *used_names) and not any(
            [section.start < task.start < section.end for task in tasks]
        )
        used_names.add(name)
        named_sections.append(section._replace(name=name, is_living=True) if is_log else section)
    return named_sections


def guess_role(title: str) -> str | None:
    """Return the first role that has a word of a title, such as `risks` for `Open risks of the release`, or None."""
    words = title_words(title)
    return next((role for role in WORDS if _has_word(words, role)), None)


def has_role(title: str, role: str, own: Mapping[str, str]) -> bool:
    """Return whether a title has a role, or a word of it; `own` is as in `find_role`."""
    return find_role(title, own) == role or _has_word(title_words(title), role)


def title_words(title: str) -> list[str]:
    """Return the words of a title in lower case; a hyphen is part of a word."""
    text = "".join([char if char.isalnum() or char in "-;" else " " for char in title.casefold()])
    return [word for word in [part.strip("-") for part in text.split()] if word]


def _has_word(words: list[str], role: str) -> bool:
    starts = WORDS[role]
    return any(
        [word.startswith(start) or (start >= _FIRST_CJK and start in word) for word in words for start in starts]
    )


def _is_numbered_part(key: str) -> bool:
    """Return whether a title names one numbered part of the work, such as `Task 3: Parser`."""
    if key.startswith("第"):
        return key[1:].lstrip(_NUMERALS + " ").startswith(STEP_WORDS)
    words = key.replace(":", " ").replace("：", " ").split()
    if len(words) > 1 and words[0] in STEP_WORDS:
        return words[1].strip("#.)—–-")[:1].isdecimal() or words[1] in ("one", "two", "three") or len(words[1]) == 1
    word = (words or [""])[0]
    stem = word.rstrip(_NUMERALS)
    return stem != word and stem in STEP_WORDS


def part_number(title: str) -> str:
    """Return the number of a part of the work, as in `Task 3: Parser` and `2. Tests`; empty if it has none."""
    words = outline.title_key(title).replace(":", " ").replace("：", " ").split()
    word = words[1] if len(words) > 1 and words[0] in STEP_WORDS else (words or [""])[0]
    word = word.strip("#.)—–-")
    return word if word.isascii() and word.isdecimal() else ""


def _without_number(key: str) -> str:
    """Return a title without the number in front, as in `2. context` and `一、目标`."""
    stripped = key.lstrip(_NUMERALS + "()（）第")
    if stripped == key:
        return key
    return stripped.lstrip(" .):：、,，-–—章节部分").strip()
