"""What sections are for, by their headings; written by scripts/generate.py from roles.toml, which explains it."""

TITLES = {
    "tasks": (
        "progress|task|tasks|task list|tasks list|todo|todos|to do|to-do|to-do list|todo "
        "list|steps|phases|milestones|work items|work breakdown|implementation|implementation "
        "plan|implementation steps|implementation phases|implementation tasks|implementation "
        "checklist|implementation order|implementation sequence|plan|plan of "
        "work|execution|execution plan|execution phases|execution steps|execution "
        "checklist|rollout|rollout plan|delivery plan|phasing|implementation "
        "phasing|sequence|sequencing|slices|workstreams|deliverables|proposed fix|code "
        "changes|proposed changes|what to implement|progress log|current phase|implementation "
        "notes|priority order|suggested order|remaining action "
        "items|进度|任务|任务列表|任务清单|任务拆解|任务分解|步骤|实施步骤|实施计划|执行计划|执行步骤|执行|计划|阶段|里程碑|待办|待办事项|工作项|进展|实现步骤|実装計画|タスク|手順|進捗|作業|計画|작업|할"
        " 일|진행 상황|진행|단계|구현 계획|aufgaben|schritte|fortschritt|umsetzung|tâches|étapes|avancement|plan"
        " d'action|tareas|pasos|progreso|plan de trabajo|tarefas|passos|progresso|plano de "
        "trabalho|задачи|шаги|прогресс|план|план работ"
    ).split("|"),
    "validation": (
        "validation|verification|validation and acceptance|acceptance|acceptance criteria|success "
        "criteria|success metrics|exit criteria|completion criteria|done criteria|done "
        "when|definition of done|test plan|testing plan|testing|tests|testing strategy|test "
        "strategy|validation plan|verification plan|verification log|verification "
        "steps|verification commands|checklist|review checklist|self-review|self review|self-review"
        " checklist|review and acceptance checklist|execution status|quality gates|quality "
        "checklist|final verification|manual verification|manual testing|qa|qa checklist|spec "
        "coverage|validation contract|validation boundary|validation boundaries|validation "
        "evidence|validation results|verification evidence|verification results|spec coverage "
        "check|spec coverage checklist|placeholder scan|acceptance checklist|constitution "
        "check|验收|验收标准|验证边界|验证结果|验证|测试|测试计划|测试策略|验证计划|验证步骤|检查清单|完成标准|成功标准|自检|自查|受け入れ基準|受入基準|検証|テスト|完了条件|완료"
        " 조건|완료 기준|검증|테스트|수용 기준|abnahme|abnahmekriterien|akzeptanzkriterien|überprüfung|tests und "
        "abnahme|critères d'acceptation|vérification|criterios de "
        "aceptación|validación|verificación|pruebas|critérios de "
        "aceitação|validação|verificação|testes|критерии приемки|критерии "
        "приёмки|проверка|тестирование"
    ).split("|"),
    "next_step": (
        "next|next step|next steps|immediate next actions|next actions|follow-up|follow-ups|follow "
        "up|remaining work|remaining follow-up|remaining|open item|open "
        "items|下一步|后续|后续步骤|后续工作|次のステップ|次の作業|다음 단계|nächste schritte|prochaines étapes|próximos "
        "pasos|siguientes pasos|próximos passos|следующие шаги"
    ).split("|"),
    "status": (
        "status|current status|plan status|state|状态|当前进度|状況|状態|ステータス|상태|statut|estado|статус"
    ).split("|"),
    "purpose": (
        "purpose|goal|goals|objective|objectives|overview|summary|executive "
        "summary|tl;dr|tldr|why|motivation|intent|mission|problem|problem statement|the "
        "problem|user story|user stories|big "
        "picture|目标|目的|概述|摘要|总览|动机|问题陈述|概要|ゴール|動機|목표|목적|개요|요약|ziel|ziele|zweck|zusammenfassung|überblick|motivation"
        " und "
        "ziel|but|objectif|objectifs|résumé|aperçu|objetivo|objetivos|propósito|resumen|resumo|visão"
        " geral|цель|цели|обзор|кратко|резюме"
    ).split("|"),
    "decisions": (
        "decision log|decisions|decision|key decisions|design decisions|technical "
        "decisions|decisions made|architecture decisions|resolved "
        "decisions|决策|决策记录|决策日志|关键决策|设计决策|決定|決定事項|意思決定|설계 결정|결정|결정 사항|결정 "
        "기록|entscheidungen|entscheidungsprotokoll|décisions|journal des "
        "décisions|decisiones|registro de decisiones|decisões|registro de decisões|решения|журнал "
        "решений|принятые решения"
    ).split("|"),
    "discoveries": (
        "surprises and discoveries|discoveries|surprises|findings|key findings|lessons "
        "learned|learnings|observations|research findings|发现|意外与发现|经验教训|発見|気づき|발견|발견 "
        "사항|erkenntnisse|überraschungen|découvertes|constats|hallazgos|descubrimientos|descobertas|achados|находки|открытия|наблюдения"
    ).split("|"),
    "outcomes": (
        "outcomes and retrospective|outcomes|outcome|results|result|retrospective|completion "
        "summary|completion notes|final "
        "summary|结果|回顾|总结|复盘|成果|結果|振り返り|결과|회고|ergebnis|ergebnisse|rückblick|résultats|rétrospective|resultados|retrospectiva|результаты|итоги|ретроспектива"
    ).split("|"),
    "context": (
        "context|context and orientation|orientation|background|current state|current "
        "situation|existing code|references|related files|key files|files|file structure|file "
        "map|research|assumptions|prerequisites|背景|上下文|现状|当前状态|参考|参考资料|相关文件|文件结构|前置条件|假设|コンテキスト|現状|前提|参考資料|배경|맥락|현재"
        " 상태|참고|참고 자료|kontext|hintergrund|ausgangslage|annahmen|contexte|contexte et "
        "objectifs|hypothèses|contexto|antecedentes|supuestos|pressupostos|контекст|предпосылки|текущее"
        " состояние"
    ).split("|"),
    "scope": (
        "scope|in scope|out of scope|scope and non-goals|non-goals|non goals|goals and non-"
        "goals|constraints|global "
        "constraints|boundaries|limitations|范围|非目标|不在范围内|约束|限制|スコープ|範囲|対象外|制約|범위|비목표|제약|제약 "
        "사항|umfang|nicht-ziele|abgrenzung|einschränkungen|périmètre|hors "
        "périmètre|contraintes|alcance|fuera de alcance|restricciones|escopo|fora do "
        "escopo|restrições|объём|объем|вне объёма|границы|ограничения"
    ).split("|"),
    "risks": (
        "risks|risk|risks and mitigations|risk and mitigation|risks and mitigation|risk "
        "assessment|risk register|risks and open questions|failure modes|failure "
        "scenarios|风险|风险与缓解|风险评估|リスク|リスクと対策|위험|리스크|risiken|risiken und "
        "massnahmen|risques|riesgos|riesgos y mitigaciones|riscos|riscos e mitigações|риски"
    ).split("|"),
}
WORDS = {
    "validation": (
        "verif|valid|accept|test|check|qa|success|done-"
        "when|criteria|proof|prüf|überprüf|abnahme|verifi|validación|prueba|comprob|vérif|recette|critères|провер|тест|приёмк|valida|teste|验证|测试|验收|検証|テスト|受け入れ|검증|테스트"
    ).split("|"),
    "recovery": (
        "rollback|roll-back|recover|revert|idempot|backout|rückgängig|rücknahme|retour|откат|回滚|ロールバック|롤백"
    ).split("|"),
    "interfaces": (
        "interfac|api|apis|dependenc|signature|schnittstell|abhängig|dépendance|интерфейс|зависимост|接口|依赖|インターフェース|依存|인터페이스"
    ).split("|"),
    "commands": ("command|run|shell|befehl|kommando|commande|comando|команд|命令|コマンド|명령").split("|"),
    "purpose": (
        "goal|purpose|objective|mission|summary|overview|problem|why|motivation|intent|tldr|tl;dr|aim|ziel|zweck|zusammenfassung|überblick|objectif|résumé|objetivo|resumen|resumo|цель|обзор|кратко|目标|目的|概述|摘要|概要|ゴール|목표|목적|개요|요약"
    ).split("|"),
    "outcomes": ("outcome|retrospective|ergebnis|résultat|resultado|итог|结果|結果|결과").split("|"),
    "risks": ("risk|blocker|blocked|risik|risque|riesgo|risco|риск|风险|リスク|위험").split("|"),
    "questions": ("question|unknown|frage|pregunta|pergunta|вопрос|疑问|質問|질문").split("|"),
    "scope": ("scope|non-goal|constraint|umfang|périmètre|alcance|escopo|范围|スコープ|범위").split("|"),
    "context": (
        "context|background|current|existing|file|files|finding|architecture|codebase|assumption|note|reference|research|observation|situation|state|kontext|hintergrund|datei|ausgangslage|annahme|contexte|fichier|hypothèse|contexto|archivo|arquivo|supuesto|контекст|файл|предпосыл|допущени|背景|文件|上下文|假设|ファイル|コンテキスト|前提|파일|배경|맥락"
    ).split("|"),
    "tasks": (
        "todo|to-do|todos|task|tasks|checklist|progress|aufgabe|tâche|tarea|tarefa|задач|待办|任务|タスク|작업|할일"
    ).split("|"),
    "approach": (
        "plan|approach|change|implement|design|step|phase|milestone|solution|strategy|work|proposal|edit|vorgehen|umsetz|schritt|lösung|änderung|étape|approche|mise|solución|paso|cambio|passo|solução|план|шаг|этап|решени|изменени|реализ|方案|步骤|实现|实施|修改|計画|手順|実装|変更|계획|단계|구현|변경"
    ).split("|"),
}
COLUMNS = {
    "work": (
        "task|step|phase|item|milestone|stage|slice|work item|action|action "
        "item|todo|deliverable|pr|workstream|任务|步骤|阶段|里程碑|事项|工作项|待办|タスク|ステップ|フェーズ|作業|項目|작업|단계|할 "
        "일|aufgabe|schritt|tâche|étape|tarea|paso|fase|tarefa|passo|etapa|задача|шаг|этап"
    ).split("|"),
    "text": (
        "description|title|name|summary|topic|goal|outcome|scope|what|work|内容|描述|说明|标题|名称|目标|説明|概要|내용|설명|beschreibung|titel|titre|descripción|título|descrição|описание|название"
    ).split("|"),
    "id": ("id|#|no|no.|nr|nr.|number|编号|序号|番号|번호").split("|"),
}
OPEN_WORDS = {
    "phases": ("pending").split("|"),
    "english": ("todo|to do|not started|open|planned|queued|upcoming|not done|not yet started|ready").split("|"),
    "symbols": ("⬜|🔲|☐|⏳|⏸|🔜|⚪").split("|"),
    "chinese": ("未开始|待办|待开始|待处理|待实施|计划中").split("|"),
    "japanese": ("未着手|未対応|未実施|未完了").split("|"),
    "korean": ("대기|예정|시작 전|미착수").split("|"),
    "german": ("offen|nicht begonnen|geplant|ausstehend").split("|"),
    "french": ("à faire|non commencé").split("|"),
    "spanish": ("pendiente|por hacer").split("|"),
    "portuguese": ("pendente|a fazer").split("|"),
    "russian": ("не начато|запланировано|к выполнению").split("|"),
}
STARTED_WORDS = {
    "phases": ("in_progress").split("|"),
    "english": (
        "in progress|started|wip|ongoing|active|doing|partial|partly done|partially done|partially "
        "implemented|partially complete|mostly done|mostly implemented|mostly complete|in "
        "review|blocked|deferred|on hold|paused|parked|failed"
    ).split("|"),
    "symbols": ("🚧|🔄|🟡|🔵|🔴|❌|⚠|🏗").split("|"),
    "chinese": ("进行中|部分完成|实施中|阻塞|推迟|暂停").split("|"),
    "japanese": ("進行中|作業中|対応中|保留").split("|"),
    "korean": ("진행 중|진행중|보류").split("|"),
    "german": ("in arbeit|in bearbeitung|begonnen|blockiert").split("|"),
    "french": ("en cours|bloqué").split("|"),
    "spanish": ("en curso|en progreso|bloqueado").split("|"),
    "portuguese": ("em andamento|em progresso|bloqueado").split("|"),
    "russian": ("в работе|в процессе|начато").split("|"),
}
DONE_WORDS = {
    "phases": ("complete").split("|"),
    "english": ("done|completed|finished|closed|shipped|implemented|merged|archived|delivered|landed|released").split(
        "|"
    ),
    "symbols": ("✅|☑|✔|✓|🟢").split("|"),
    "chinese": ("已完成|完成").split("|"),
    "japanese": ("完了|済|済み|実装済み|対応済み").split("|"),
    "korean": ("완료|완료됨").split("|"),
    "german": ("erledigt|fertig|abgeschlossen").split("|"),
    "french": ("terminé|fait|fini").split("|"),
    "spanish": ("hecho|completado|terminado").split("|"),
    "portuguese": ("feito|concluído").split("|"),
    "russian": ("готово|выполнено|завершено|сделано").split("|"),
}
DROPPED_WORDS = {
    "english": ("dropped|cancelled|canceled|skipped|abandoned|superseded|obsolete|won't do|wontfix").split("|"),
    "symbols": ("🚫|⏭").split("|"),
    "chinese": ("已取消|取消").split("|"),
    "japanese": ("中止|見送り").split("|"),
    "korean": ("취소|취소됨").split("|"),
    "german": ("verworfen|entfällt").split("|"),
    "french": ("annulé|abandonné").split("|"),
    "spanish": ("cancelado").split("|"),
    "russian": ("отменено").split("|"),
}
