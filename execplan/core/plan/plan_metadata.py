"""The metadata of a plan: what front matter, a Metadata list and a section about plan dependencies say about it."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.front_matter import parse_front_matter
from execplan.core.plan.metadata_values import (
    LINK_KEYS,
    LIST_KEYS,
    TEXT_KEYS,
    metadata_items,
    normalize_key,
    single_text,
    split_texts,
)
from execplan.core.plan.plan_dependencies import find_dependencies

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.front_matter import FrontMatter
    from execplan.core.plan.model import ParsedPlan


class Links(NamedTuple):
    """What a plan belongs to, as written: numbers, URLs or paths."""

    issue: tuple[str, ...] = ()
    pr: tuple[str, ...] = ()
    docs: tuple[str, ...] = ()
    shipped: tuple[str, ...] = ()
    """Releases or commits in which the plan's work was shipped."""


class PlanMetadata(NamedTuple):
    """The metadata of a plan, as written; empty where nothing is given. The plan's state is computed, not read here."""

    id: str = ""
    status: str = ""
    owner: str = ""
    created: str = ""
    updated: str = ""
    tags: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    """Names of the plans that must be complete before this one."""
    supersedes: tuple[str, ...] = ()
    links: Links = Links()


def read_metadata(plan: ParsedPlan) -> PlanMetadata:
    """Read the metadata of a plan: from its front matter, and what is missing there from a Metadata list.

    Dependencies are those of all places.
    """
    front_matter = parse_front_matter(plan.text.lines)
    values: dict[str, tuple[str, ...]] = {}
    for key, value in _front_values(front_matter):
        values.setdefault(key, value)
    listed: dict[str, tuple[str, ...]] = {}
    for key, value, _ in metadata_items(plan):
        if value and (key not in TEXT_KEYS or key not in listed):
            listed[key] = listed.get(key, ()) + value
    values = {**listed, **values}
    texts = {key: values[key][0] for key in TEXT_KEYS if values.get(key)}
    names = tuple(dict.fromkeys([mention.name for mention in find_dependencies(plan, front_matter)]))
    links = Links._make([values.get(key, ()) for key in LINK_KEYS])
    tags, supersedes = values.get("tags", ()), values.get("supersedes", ())
    return PlanMetadata(**texts, tags=tags, depends_on=names, supersedes=supersedes, links=links)


def _front_values(front_matter: FrontMatter) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the known keys of the front matter with their values, except dependencies; those of `links` first."""
    links = front_matter.fields.get("links")
    if isinstance(links, dict):
        for name, link in links.items():
            if normalize_key(name) in LINK_KEYS and (texts := split_texts(link)):
                yield normalize_key(name), texts
    for name, value in front_matter.fields.items():
        key = normalize_key(name)
        if isinstance(value, dict) or key == "depends_on":
            continue
        texts = split_texts(value) if key not in TEXT_KEYS or isinstance(value, list) else single_text(value)
        if texts and key in TEXT_KEYS + LIST_KEYS + LINK_KEYS:
            yield key, texts
