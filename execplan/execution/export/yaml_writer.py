"""YAML of workflows and pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


def write_yaml(header: tuple[str, ...], data: dict[str, Any]) -> str:
    """Return data as YAML in the given order, after comment lines without line breaks."""
    import yaml

    comment = "".join([f"# {line}\n" for line in header])
    return comment + yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=1000)
