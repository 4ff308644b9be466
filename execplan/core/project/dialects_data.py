"""Written by scripts/generate.py from execplan/core/project/dialects."""
# mypy: disable-error-code=type-arg

DATA: dict = {
'backlog': {'about': 'A file per task of Backlog.md, with its state in the front matter', 'tool': 'backlog', 'directories': ('backlog/tasks', '.backlog/tasks', 'backlog/drafts', '.backlog/drafts'), 'plan_name': 'task-{number} - {slug}', 'has_subdirectories': True, 'companions': ('docs', 'decisions', 'milestones'), 'archive': '../completed', 'superseded': '../archive/tasks', 'done_status': 'Done', 'restored_status': 'In Progress', 'template': 'backlog'},
'execplan': {'about': 'Twelve sections, four of them living', 'directories': ('.agent/execplans', '.agent/exec-plans', '.agent/exec_plans', '.agent/plans', '.agents/execplans', '.agents/exec-plans', '.agents/exec_plans', '.agents/plans', 'agent-docs/exec-plans', 'agent-docs/execplans', 'agent-docs/exec_plans', 'agent-docs/plans', 'exec-plans', 'execplans', 'exec_plans'), 'template': 'plan'},
'gsd': {'about': 'A roadmap of phases', 'files': ('.planning/ROADMAP.md',), 'companions': ('phases', 'milestones', 'quick', 'research', 'codebase', 'todos', 'debug', 'PROJECT.md', 'REQUIREMENTS.md', 'STATE.md', 'MILESTONES.md', 'config.json'), 'template': 'plain'},
'harness': {'about': 'Active and completed plans', 'directories': ('docs/exec-plans', 'docs/execplans', 'docs/exec_plans'), 'template': 'plain'},
'kiro': {'about': 'A directory per spec, with tasks.md', 'tool': 'kiro', 'directories': ('.kiro/specs',), 'marker': '.kiro', 'plan_name': '{slug}', 'plan_file': 'tasks.md', 'template': 'kiro'},
'openspec': {'about': 'A directory per change, with tasks.md', 'tool': 'openspec', 'directories': ('openspec/changes',), 'plan_name': '{slug}', 'plan_file': 'tasks.md', 'archive': 'archive', 'archived_name': '{date}-{id}', 'template': 'openspec', 'required_lines': ('## 1.',)},
'plain': {'about': 'Any other form', 'directories': ('docs/plans', '.claude/plans', '.cursor/plans'), 'root_directories': ('plans', '.plans'), 'template': 'plain'},
'planning-with-files': {'about': 'Phases, in a file at the root or in a directory per plan', 'directories': ('.planning',), 'files': ('task_plan.md',), 'companions': ('findings.md', 'progress.md'), 'plan_file': 'task_plan.md', 'archived_name': '{date}_{slug}', 'template': 'planning-with-files', 'required_lines': ('## Goal', '## Phases')},
'spec-kit': {'about': 'A directory per feature, with tasks.md', 'tool': 'specify', 'root_directories': ('specs',), 'marker': '.specify', 'plan_name': '{number:03}-{slug}', 'plan_file': 'tasks.md', 'template': 'spec-kit'},
'superpowers': {'about': 'Numbered tasks with steps', 'directories': ('docs/superpowers/plans',), 'companions': ('specs',), 'plan_name': '{date}-{slug}', 'template': 'superpowers', 'required_lines': ('**Goal:**', '**Architecture:**', '**Tech Stack:**')},
}
