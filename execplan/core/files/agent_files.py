"""Files that agent programs load unasked: their configuration, which no agent may change, and instructions."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

CONFIGURATION: Final[Mapping[str, str]] = {
    ".claude": "the settings, hooks or skills of Claude Code",
    ".codex": "the settings or hooks of Codex",
    ".cursor": "the settings, hooks or rules of Cursor",
    ".gemini": "the settings or hooks of Gemini",
    ".mcp.json": "the servers that agent programs start",
    ".vscode/mcp.json": "the servers that agent programs start",
    ".github/copilot": "the settings of Copilot",
    ".github/hooks": "the hooks of Copilot",
    ".agents/skills": "the skills of agent programs",
    ".agents/plugins": "the plugins that agent programs offer",
    **dict.fromkeys(
        (
            ".aider.conf.yml .amazonq .clinerules .continue .factory .kiro .opencode .qwen .roo .windsurf "
            "opencode.json opencode.jsonc"
        ).split(),
        "the settings or hooks of an agent program",
    ),
}
"""Files and directories that decide what agent programs may do or run, at any level of a repository.

`.agents` itself may also contain plans. A skill can contain commands that a program runs unasked.
"""
USER_CONFIGURATION: Final = (
    *(".claude .claude.json .codex .cursor .gemini .copilot .factory .kiro .qwen".split()),
    ".config/opencode",
)
"""The same in a user's home directory."""
INSTRUCTIONS: Final = frozenset(
    """agents.md agents.local.md agents.override.md claude.md claude.local.md gemini.md qwen.md crush.md crush.local.md warp.md
.cursorrules .goosehints .windsurfrules copilot-instructions.md""".split()
)
"""Names of files with instructions that agent programs load from any directory, in lower case."""


def describe_configuration(path: str) -> str:
    """Describe a path that belongs to the configuration of an agent program, in any letter case; empty for others."""
    folded = f"/{path.casefold()}/"
    return next((description for name, description in CONFIGURATION.items() if f"/{name}/" in folded), "")
