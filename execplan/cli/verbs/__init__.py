"""The verbs, in the groups and with the lines that `--help` shows."""

GROUPS: dict[str, dict[str, str]] = {
    "Write": {
        "init": "Make a home for plans: guide, folders, settings.",
        "new": "Write a new plan from the skeleton.",
        "add": "Add a task to Progress.",
        "done": "Tick tasks, with the time.",
        "reopen": "Take ticks back.",
        "decide": "Add a decision, with its rationale.",
        "discover": "Add a discovery, with its evidence.",
        "outcome": "Add an outcome.",
    },
    "Look": {
        "status": "Plans by state, and each open plan's next task.",
        "list": "A line for each plan.",
        "show": "One plan at a glance, or a section of it.",
        "next": "The first open task.",
    },
    "Check": {
        "lint": "Check plans against the rules.",
        "explain": "Say what a rule is about.",
    },
    "File": {
        "archive": "Move a finished plan and its artifacts away.",
        "commit": "Commit a plan and nothing else.",
    },
    "Set up": {
        "install": "Add an integration: agents, pre-commit, git-hooks, completion.",
        "uninstall": "Take an integration back, to the byte.",
    },
}
VERBS: dict[str, str] = {name: line for group in GROUPS.values() for name, line in group.items()}
