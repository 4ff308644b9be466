"""The commands, in the groups and with the summaries that `--help` shows."""

COMMAND_GROUPS: dict[str, dict[str, str]] = {
    "Set up": {
        "init": "Set up plans in this repository.",
        "install": "Install integrations: agents, hooks, merges, completion.",
        "uninstall": "Remove exactly what install added.",
        "self": "Show the version, and how to upgrade or remove it.",
    },
    "Write": {
        "new": "Create a plan from a template.",
        "edit": "Open a plan in your editor, then check it.",
        "add": "Add a task to a plan.",
        "done": "Check off tasks.",
        "reopen": "Uncheck tasks.",
        "split": "Split a task into a done part and a remaining part.",
        "reword": "Change the text of a task.",
        "decide": "Add a decision and its rationale.",
        "discover": "Add a discovery and its evidence.",
        "outcome": "Add an outcome.",
        "note": "Add a note to Artifacts and Notes.",
        "revise": "Add a dated revision note.",
        "set": "Replace the body of a section, or set metadata.",
        "import": "Import tasks of another program, and update them later.",
        "convert": "Make an ExecPlan of a plan in another form.",
        "attach": "Attach files to a plan as evidence.",
        "undo": "Undo the last operation.",
        "redo": "Redo the last undone operation.",
    },
    "View": {
        "next": "Show or claim the next open task.",
        "use": "Set the plan that commands mean when none is named.",
        "status": "Show plans by state, and the next task of each open plan.",
        "board": "Show plans as a board: broken, draft, active, stalled, complete.",
        "list": "List plans, one per line.",
        "show": "Show a plan at a glance, or one of its sections.",
        "search": "Search plans: titles, sections, tasks, decisions and artifacts.",
        "log": "Show what happened to plans, newest first.",
        "diff": "Show what changed in a plan, in the plan's terms.",
        "site": "Build a static web site with all plans.",
        "stats": "Count runs, steps, rollbacks and approvals.",
        "serve": "Serve plans as web pages that stay up to date.",
    },
    "Coordinate": {
        "graph": "Draw which plans wait for which.",
        "overlaps": "Find open plans that name the same files.",
        "comment": "Comment on a plan, or on a task, section, entry or step.",
        "reply": "Reply to a review comment.",
        "resolve": "Resolve a review comment.",
        "review": "Show what changed in a plan since you last reviewed it.",
        "worktree": "Work on a plan in a git worktree of its own.",
        "index": "Print or write an index of the open plans.",
        "sync": "Show plans as GitHub issues, and in a GitHub project.",
    },
    "Check": {
        "lint": "Check plans against the rules.",
        "changes": "Show and check the plans that a branch changes.",
        "merge": "Merge plans changed on two branches, or resolve a conflict.",
        "doctor": "Diagnose and fix problems.",
        "explain": "Explain a topic, a rule or an error code.",
    },
    "Archive": {
        "archive": "Archive a completed plan and its artifacts.",
        "restore": "Restore a plan from the archive.",
        "drop": "Remove a draft that nobody has worked on.",
        "rename": "Give a plan a new title and ID.",
        "commit": "Commit a plan and its artifacts, and nothing else.",
    },
    "Execute": {
        "compile": "Compile a plan's steps into an execution plan.",
        "evaluate": "Evaluate what a plan would do and whether it may run.",
        "approve": "Approve what a plan would do, for one run.",
        "run": "Run the approved steps of a plan and check each result.",
        "resume": "Continue a paused, interrupted or failed run.",
        "rollback": "Roll back the changes of a run.",
        "export": "Export a plan to another program's form, or to run in CI.",
        "job": "Run one job of an exported plan.",
        "replan": "Revise the remaining steps of a run.",
        "runs": "List runs and their states.",
        "audit": "Show who approved what, what ran and what changed.",
        "schema": "Print the JSON Schema of a document type.",
    },
    "Agents": {
        "prime": "Print an overview of a plan for a new agent session, in 1 KB.",
        "context": "Select what an agent should read, within a token budget.",
        "checkpoint": "Write a restart page: all that a new session needs.",
        "summarize": "Summarize a plan (no AI).",
        "triage": "Check whether a request or a change needs a plan.",
        "handoff": "Print a plan as instructions for an agent.",
        "report": "Record the result of a step that an agent ran.",
        "guard": "Check whether an agent may make a tool call.",
        "mcp": "Serve plans to an agent program by MCP.",
        "lsp": "Serve plans to an editor by LSP.",
    },
}
COMMANDS: dict[str, str] = {name: line for group in COMMAND_GROUPS.values() for name, line in group.items()}
EVERYDAY_COMMANDS = frozenset(
    "init install new add done decide discover outcome undo next status show search lint explain archive".split()
)
"""The commands that `--help` lists; `--help-all` lists all."""
NOT_ON_WINDOWS = frozenset("approve evaluate export guard job replan report resume rollback run".split())
"""The commands that need the sandbox and the process groups of Linux and macOS."""
_EDIT_COMMANDS = "add decide discover note outcome reopen revise reword split".split()
MODULES = {
    **dict.fromkeys(_EDIT_COMMANDS, "edit_commands"),
    "import": "import_file",
    "redo": "undo",
    "reply": "comment",
    "resolve": "comment",
    "uninstall": "install",
}
"""The module of each command that does not have one of its own, with its name."""
