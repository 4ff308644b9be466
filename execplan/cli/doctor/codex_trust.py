"""Whether Codex trusts a hook: it stores the digest of each hook that its user has trusted, at the hook's position."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from execplan.agents.integrations.hook_entry import HookEntry

_EVENTS = {"PreToolUse": "pre_tool_use", "SessionStart": "session_start", "PreCompact": "pre_compact", "Stop": "stop"}


def trust_key(path: str, entry: HookEntry) -> str:
    """Return the key of an entry in a file: its path and position."""
    return f"{path}:{_EVENTS[entry.hook.event]}:{entry.ancestors[2][1]}:{entry.ancestors[4][1]}"


def trust_digest(entry: HookEntry) -> str:
    """Return the digest that Codex stores for an unedited entry; fields that it doesn't know are not in it."""
    handler = {name: entry.bare_handler[name] for name in ("command", "timeout", "type")}
    identity = {"event_name": _EVENTS[entry.hook.event], "hooks": [{"async": False, **handler}]}
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def find_trust_problem(config: Mapping[str, Any], path: str, entry: HookEntry) -> str:
    """Return why Codex does not run an entry, by the user's settings; empty if it does."""
    hooks = config.get("hooks")
    states = hooks.get("state") if isinstance(hooks, dict) else None
    state = states.get(trust_key(path, entry)) if isinstance(states, dict) else None
    if not isinstance(state, dict) or "trusted_hash" not in state:
        return "Codex doesn't trust the hook yet"
    if state.get("enabled") is False:
        return "the hook is disabled in Codex"
    return "" if state["trusted_hash"] == trust_digest(entry) else "Codex trusts an earlier form of the hook"
