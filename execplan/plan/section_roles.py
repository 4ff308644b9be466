"""Roles of sections that only plans have, by their titles, in the languages and forms in which people write plans."""

from __future__ import annotations

import os

from execplan.plan import outline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

TASKS: Final = "tasks"
VALIDATION: Final = "validation"

_STEP_WORDS = tuple(
    "task step item phase milestone stage chunk batch slice iteration sprint wave 任务 步骤 阶段 里程碑 批次 フェーズ タスク ステップ "
    "단계 작업 aufgabe schritt étape tâche fase tarea paso tarefa passo этап шаг задача".split()
)
"""First words of headings for one numbered part of the work, as in `Task 3: Parser` and `阶段 2`."""
_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "roles.toml")
_MAX_BYTES = 1 << 20
_NUMERALS = "0123456789.一二三四五六七八九十"
_roles_by_title: dict[str, str] = {}


def find_role(title: str) -> str | None:
    """Return the role of a section with this title, one of the names in `roles.toml`, or None.

    A number in front of the title is dropped. `Task 3: Parser` and the like have the role `tasks`.
    """
    key = outline.title_key(title)
    roles = _load_roles()
    return roles.get(key) or roles.get(_without_number(key)) or (TASKS if _is_numbered_part(key) else None)


def _is_numbered_part(key: str) -> bool:
    """Return whether a title names one numbered part of the work, such as `Task 3: Parser`."""
    if key.startswith("第"):
        return key[1:].lstrip(_NUMERALS + " ").startswith(_STEP_WORDS)
    words = key.replace(":", " ").replace("：", " ").split()
    if len(words) > 1 and words[0] in _STEP_WORDS:
        return words[1].strip("#.)—–-")[:1].isdecimal() or words[1] in ("one", "two", "three") or len(words[1]) == 1
    word = (words or [""])[0]
    stem = word.rstrip(_NUMERALS)
    return stem != word and stem in _STEP_WORDS


def _without_number(key: str) -> str:
    """Return a title without the number in front, as in `2. context` and `一、目标`."""
    stripped = key.lstrip(_NUMERALS + "()（）第")
    if stripped == key:
        return key
    return stripped.lstrip(" .):：、,，-–—章节部分").strip()


def _load_roles() -> dict[str, str]:
    """Return the roles by title; they are read once, and only for a plan without the usual sections."""
    if not _roles_by_title:
        from execplan.files import file_access
        from execplan.text.plain_toml import parse_toml

        for role, titles in parse_toml(file_access.read(_FILE, _MAX_BYTES)[0]).items():
            assert isinstance(titles, list)
            _roles_by_title.update(dict.fromkeys(titles, role))
    return _roles_by_title
