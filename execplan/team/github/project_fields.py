"""Fields of a GitHub project that show the state of plans; labels of the issue are the authority, fields follow them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from execplan.core.errors import ExecplanError
from execplan.team.github.api_client import unavailable_error

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

    from execplan.team.github.api_client import ApiClient
    from execplan.team.github.issue_changes import ExistingIssue
    from execplan.team.github.plan_issue import PlanIssue

STATE_FIELD, PROGRESS_FIELD = "Plan state", "Plan progress"
"""Names of the fields that are set, if the project has them: text or single select, and text."""
_TEXT, _SINGLE_SELECT = "text", "single_select"
_PAGE_SIZE: Final = 100
_PROJECT: Final = re.compile(r"(orgs|users)/([A-Za-z0-9](?:[A-Za-z0-9-]*))/(?:projects/)?([1-9][0-9]{0,8})")


class _Field(NamedTuple):
    id: int
    name: str
    options: dict[str, str] | None
    """IDs of the options of a single select, by name in lower case; None for text."""


class ItemChange(NamedTuple):
    """What has to change in a project for one issue."""

    issue: ExistingIssue
    item_id: int | None
    """None if the project does not have the issue yet."""
    values: dict[str, str]
    """Values to set, by name of the field; for a single select the name of the option."""


def parse_project(name: str) -> str:
    """Return the API's path of a project, such as `orgs/NAME/7` or `users/NAME/7`. Raises ExecplanError."""
    match = _PROJECT.fullmatch(name)
    if match is None:
        message = f"{name!r} does not name a GitHub project"
        raise ExecplanError("usage", message, hint="write orgs/NAME/NUMBER or users/NAME/NUMBER, as in its address")
    return f"/{match[1]}/{match[2]}/projectsV2/{match[3]}"


class ProjectBoard:
    """A GitHub project: its fields, its items, and changes of them. Every method raises ExecplanError."""

    def __init__(self, client: ApiClient, path: str) -> None:
        self._client = client
        self._path = path
        try:
            self._fields = self._load_fields()
            self._items = self._load_items()
        except (KeyError, TypeError, ValueError, AttributeError):
            raise unavailable_error(
                "GitHub's answer describes a project without the IDs of its fields or items"
            ) from None

    @property
    def missing_fields(self) -> tuple[str, ...]:
        """Names of the fields that the project does not have."""
        return tuple([name for name in (STATE_FIELD, PROGRESS_FIELD) if name not in self._fields])

    def compare(self, plan_issue: PlanIssue, issue: ExistingIssue) -> ItemChange | None:
        """Return what has to change for an issue; None if nothing has to."""
        item = self._items.get(issue.id)
        new_values = {STATE_FIELD: plan_issue.plan_state, PROGRESS_FIELD: plan_issue.progress}
        values = {}
        for name, value in new_values.items():
            field = self._fields.get(name)
            stored = self._stored_value(field, value) if field is not None else None
            if field is not None and stored is not None and (item is None or item[1].get(field.id, "") != stored):
                values[name] = value
        if item is not None and not values:
            return None
        return ItemChange(issue, item[0] if item is not None else None, values)

    def apply(self, change: ItemChange) -> None:
        """Add the issue if needed, and set its fields."""
        item_id = change.item_id
        if item_id is None:
            answer = self._client.send("POST", f"{self._path}/items", {"type": "Issue", "id": change.issue.id})
            if not isinstance(answer, dict) or not isinstance(answer.get("id"), int):
                raise unavailable_error("GitHub's answer does not contain the item that was added to the project")
            item_id = answer["id"]
        fields = [
            {"id": self._fields[name].id, "value": self._stored_value(self._fields[name], value) or None}
            for name, value in change.values.items()
        ]
        if fields:
            self._client.send("PATCH", f"{self._path}/items/{item_id}", {"fields": fields})

    def _stored_value(self, field: _Field, value: str) -> str | None:
        """Return what GitHub stores for a value: the option's ID in a single select; None if it has no such option."""
        return value if field.options is None else field.options.get(value.lower())

    def _load_fields(self) -> dict[str, _Field]:
        fields = {}
        for entry in self._client.get_all(f"{self._path}/fields?per_page={_PAGE_SIZE}"):
            is_select = entry["data_type"] == _SINGLE_SELECT
            if entry["name"] in (STATE_FIELD, PROGRESS_FIELD) and (is_select or entry["data_type"] == _TEXT):
                options = {
                    _plain_text(option["name"]).lower(): str(option["id"]) for option in entry.get("options") or ()
                }
                fields[entry["name"]] = _Field(int(entry["id"]), entry["name"], options if is_select else None)
        return fields

    def _load_items(self) -> dict[int, tuple[int, dict[int, str]]]:
        """Return the ID and the field values of each issue in the project, by the issue's ID."""
        ids = ",".join([str(field.id) for field in self._fields.values()])
        query = f"per_page={_PAGE_SIZE}" + (f"&fields={ids}" if ids else "")
        items = {}
        for entry in self._client.get_all(f"{self._path}/items?{query}"):
            content = entry.get("content")
            if entry["content_type"] == "Issue" and isinstance(content, dict):
                items[int(content["id"])] = (int(entry["id"]), _field_values(entry.get("fields") or ()))
        return items


def _field_values(fields: Iterable[dict[str, Any]]) -> dict[int, str]:
    """Return the values of an item by ID of the field, as `_stored_value` has them."""
    values = {}
    for field in fields:
        value = field.get("value")
        if isinstance(value, dict) and field.get("data_type") == _SINGLE_SELECT:
            value = value.get("id")
        values[int(field["id"])] = _plain_text(value)
    return values


def _plain_text(value: Any) -> str:
    """Return a text that GitHub sends as it is, or with its HTML in an object."""
    if isinstance(value, dict):
        value = value.get("raw")
    return "" if value is None else str(value)
