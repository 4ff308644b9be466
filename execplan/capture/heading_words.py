"""What the headings of native plans say about their content, in the languages that agents often write."""

from __future__ import annotations

import re

from execplan.plan import outline

TASKS = "tasks"
"""Label of headings above a list of tasks, which belongs to Progress if it has checkboxes."""
MAX_WORDS = 6
"""Maximum number of words of a heading that is taken as a label: a longer one names a piece of work."""

_WORD_STARTS = {
    outline.VALIDATION: (
        "verif valid accept test check qa success done-when criteria proof "
        "prüf überprüf abnahme verifi validación prueba comprob vérif recette critères провер тест приёмк valida teste "
        "验证 测试 验收 検証 テスト 受け入れ 검증 테스트"
    ),
    outline.RECOVERY: "rollback roll-back recover revert idempot backout rückgängig rücknahme retour откат 回滚 ロールバック 롤백",
    outline.INTERFACES: "interfac api apis dependenc signature schnittstell abhängig dépendance интерфейс зависимост 接口 依赖 インターフェース 依存 인터페이스",
    outline.STEPS: "command run shell befehl kommando commande comando команд 命令 コマンド 명령",
    outline.PURPOSE: (
        "goal purpose objective summary overview problem why motivation intent outcome tldr tl;dr aim "
        "ziel zweck zusammenfassung überblick objectif résumé objetivo resumen resumo цель обзор кратко "
        "目标 目的 概述 摘要 概要 ゴール 목표 개요 요약"
    ),
    outline.CONTEXT: (
        "context background current existing file files finding architecture codebase assumption constraint "
        "risk scope non-goal question note reference research observation situation state "
        "kontext hintergrund datei ausgangslage annahme risik contexte fichier hypothèse contexto archivo arquivo supuesto "
        "контекст файл предпосыл допущени 背景 文件 上下文 假设 风险 ファイル コンテキスト 前提 파일 배경 맥락"
    ),
    TASKS: "todo to-do todos task tasks checklist progress aufgabe tâche tarea tarefa задач 待办 任务 タスク 작업 할일",
    outline.WORK: (
        "plan approach change implement design step phase milestone solution strategy work proposal edit "
        "vorgehen umsetz schritt lösung änderung étape approche mise solución paso cambio passo solução "
        "план шаг этап решени изменени реализ 方案 步骤 实现 实施 修改 計画 手順 実装 変更 계획 단계 구현 변경"
    ),
}
"""Beginnings of words by section; the first section with a match counts."""
_STARTS = {section: tuple(words.split()) for section, words in _WORD_STARTS.items()}
_PRECEDENCE = (
    (("implement", "implementation"), ("plan", "step", "steps", "approach", "strategy"), outline.WORK),
    (("test", "testing", "verification"), ("plan", "strategy", "steps"), outline.VALIDATION),
)
"""Pairs of words that decide together."""
_MAX_NUMBER_LENGTH = 40
_WORDS = re.compile(r"[\w;]+(?:-\w+)*")
_NUMBERED = re.compile(
    r"^[\W_]*(?:(?:step|phase|milestone|part|stage|task|pr|schritt|étape|paso|passo|шаг|этап|阶段|步骤|第|フェーズ|ステップ|단계)"
    r"\W*\d+|\d+(?:\.\d+)*\s*[.):\-–—]|\d+(?:\.\d+)+\s|[a-z]\))",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"^[\W_]*(?:step|phase|milestone|part|stage|schritt|étape|paso|passo|шаг|этап)?\W{0,3}\d+(?:\.\d+)*\W+",
    re.IGNORECASE,
)


def find_label(heading: str) -> str:
    """Return the section that a heading stands for, or `TASKS`; empty if it says nothing about that."""
    words = [word.strip("_") for word in _WORDS.findall(heading.casefold())]
    if not words or len(words) > MAX_WORDS or is_numbered(heading):
        return ""
    for first_words, second_words, section in _PRECEDENCE:
        if set(first_words).intersection(words) and set(second_words).intersection(words):
            return section
    return next(
        (section for section, starts in _STARTS.items() if any([word.startswith(starts) for word in words])), ""
    )


def is_numbered(heading: str) -> bool:
    """Return whether a heading has a number, such as `Step 2: Write the reader`, `1. Read` or `Phase 3`."""
    return _NUMBERED.match(heading[:_MAX_NUMBER_LENGTH]) is not None


def without_number(heading: str) -> str:
    """Return a heading without the number at its start, if anything remains."""
    return (
        heading[match.end() :].strip() or heading if (match := _NUMBER.match(heading[:_MAX_NUMBER_LENGTH])) else heading
    )
