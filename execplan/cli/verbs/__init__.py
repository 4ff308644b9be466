"""The verbs, in the groups and with the lines that `--help` shows."""

GROUPS: dict[str, dict[str, str]] = {
    "Write": {
        "init": "Make a home for plans: guide, folders, settings.",
        "new": "Write a new plan from a template.",
        "edit": "Open a plan in your editor, then lint it.",
        "add": "Add a task to Progress.",
        "done": "Tick tasks, with the time.",
        "reopen": "Take ticks back.",
        "split": "Split a half-done task into its done and its remaining part.",
        "reword": "Say a task in other words.",
        "decide": "Add a decision, with its rationale.",
        "discover": "Add a discovery, with its evidence.",
        "outcome": "Add an outcome.",
        "note": "Add a note, with an excerpt, to Artifacts and Notes.",
        "revise": "Add a dated revision note.",
        "set": "Put a new body into a section.",
        "attach": "Copy files into the artifacts, and name them in the plan.",
        "undo": "Take back the last edit.",
    },
    "Look": {
        "status": "Plans by state, and each open plan's next task.",
        "list": "A line for each plan.",
        "show": "One plan at a glance, or a section of it.",
        "next": "The first open task.",
        "stats": "Count runs, steps, rollbacks and approvals.",
    },
    "Check": {
        "lint": "Check plans against the rules.",
        "merge": "Merge plans that two branches changed, or finish a conflict.",
        "doctor": "Say everything that is wrong with a home, and mend it.",
        "explain": "Say what a topic, a rule or a refusal is about.",
    },
    "File": {
        "archive": "Move a finished plan and its artifacts away.",
        "restore": "Take a plan back out of the archive.",
        "rename": "Give a plan another title and id.",
        "commit": "Commit a plan and nothing else.",
    },
    "Execute": {
        "compile": "Turn a plan's steps into its execution plan.",
        "evaluate": "Judge what a plan would do, and whether it must not run.",
        "approve": "Approve what a plan would do, for one run.",
        "run": "Run what was approved: do, judge, tick, step by step.",
        "resume": "Go on with a run that waits, was cut short or has failed.",
        "rollback": "Take back what a run has changed.",
        "replan": "Revise what a run is still to do.",
        "runs": "A line for each run, and how it stands.",
        "audit": "Tell who approved what, what ran and what changed.",
        "schema": "Print the JSON Schema of a kind of document.",
    },
    "Agents": {
        "triage": "Say whether a plan is due for a request or a change.",
    },
    "Set up": {
        "install": "Add agents, pre-commit, git-hooks, merge-driver or completion.",
        "uninstall": "Take an integration back, to the byte.",
    },
}
VERBS: dict[str, str] = {name: line for group in GROUPS.values() for name, line in group.items()}
