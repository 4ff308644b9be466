"""Building a static site: which pages it has, which of them changed, and the files that are written and removed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, Final, NamedTuple

from execplan.core.clock import now
from execplan.core.errors import ExecplanError
from execplan.core.plan_store import plan_store
from execplan.core.project.project import Project
from execplan.core.project.project_list import ListedProject
from execplan.core.secrets.redaction import Redactor
from execplan.core.text.text_lines import digest
from execplan.core.worker_processes import process_count, run_in_processes
from execplan.views.charts.chart_sources import PlanSources, read_plan_sources
from execplan.views.site import page_rendering
from execplan.views.site.artifact_copies import read_copy
from execplan.views.site.page_cache import CachedPage, PageCache, WrittenFile, make_page, open_page_cache
from execplan.views.site.page_charts import draw_plan_chart
from execplan.views.site.page_context import BOARD_PAGE, CHARTS_PAGE, PageNames
from execplan.views.site.page_plans import PagePlan, load_page_plans
from execplan.views.site.plan_view import load_decisions, load_plan_view, publish_plan
from execplan.views.site.site_directory import DEFAULT_DIRECTORY, SiteDirectory, ensure_separate
from execplan.views.site.site_parts import SitePart, join_parts, load_part, load_parts, plan_files
from execplan.views.site.top_pages import TEXT_PAGES, render_chart_files, render_text_pages

Tick = Callable[[int, int], None]

_IGNORE_FILE: Final = ".gitignore"
_IGNORE_ALL: Final = b"*\n"


class BuiltSite(NamedTuple):
    """The result of building a site."""

    directory: str
    """Absolute path."""
    pages: int
    """Number of pages, changed or not."""
    changed: tuple[str, ...]
    """The files that were written, by their paths in the site, in order; in a dry run those that would be."""
    unchanged: int
    """Number of files that already had the right content."""
    removed: tuple[str, ...]
    warnings: tuple[str, ...]
    problems: tuple[str, ...] = ()
    """Why some of several projects have no pages."""


def build_site(
    project: Project,
    directory: str,
    redactor: Redactor,
    *,
    dry_run: bool = False,
    tick: Tick | None = None,
    projects: Sequence[ListedProject] = (),
) -> BuiltSite:
    """Build the site of a project and its nested projects in a directory, and write only what changed.

    With `projects`, the site is one of several projects, and `project` only has its lock and its cache.

    `tick` is called with the number of plans that were checked or rendered, and the total. Raises ExecplanError if the
    directory is not a site's, can't be written or is being written for too long.
    """
    for listed_project in [listed.project for listed in projects] or [project]:
        ensure_separate(listed_project, directory)
    site = SiteDirectory(directory, dry_run=dry_run)
    parts, problems = load_parts(projects, tick) if projects else ([load_part(project, tick)], [])
    if not parts:
        raise ExecplanError("no-such-project", problems[0], hint="fix the project, or name another one")
    builder = _SiteBuilder(project, site, parts, redactor)
    with nullcontext() if dry_run else site.lock(project):
        return builder.build(tick)._replace(problems=tuple(problems))


class _SiteBuilder:
    """Builds the pages of a site whose projects were loaded."""

    def __init__(self, project: Project, site: SiteDirectory, parts: Sequence[SitePart], redactor: Redactor) -> None:
        self._project = project
        self._site = site
        self._parts = parts
        self._board = join_parts(parts)
        self._redactor = redactor
        is_joint = bool(parts[0].prefix)
        directories = {part.project.base: part.directory for part in parts} if is_joint else {}
        self._names = PageNames(self._board.cards, directories, plan_files(parts) if is_joint else {})
        self._assets = page_rendering.read_assets()
        if site.path == os.path.realpath(os.path.join(project.base, DEFAULT_DIRECTORY)):
            self._assets[_IGNORE_FILE] = _IGNORE_ALL
        self._top_context = parts[0].top_context(site.path)
        self._today = now().date().isoformat()
        common = (self._top_context, self._names.all_pages(), redactor.fingerprint)
        self._common_digest = digest(repr(common).encode("utf-8", "surrogatepass"))
        self._changed: list[str] = []
        self._digests: dict[str, str] = {}

    def build(self, tick: Tick | None) -> BuiltSite:
        """Write what changed, and remove what is no longer part of the site. The caller holds the lock."""
        cache = open_page_cache(self._project, self._site.path, page_rendering.templates_digest())
        plan_pages = load_page_plans(self._parts, self._board, self._names, cache, self._site.warnings)
        plan_files = [target for plan_page in plan_pages for target in plan_page.targets]
        self._site.reload()
        self._site.claim([*TEXT_PAGES, *plan_files, *self._assets])
        cached_pages = self._update_plan_pages(plan_pages, cache, tick)
        self._update_top_pages(plan_pages, cached_pages, cache)
        for name, data in self._assets.items():
            self._write(name, data)
        removed = self._site.finish(self._digests)
        if cache is not None and not self._site.is_dry_run:
            cache.save(cached_pages)
        return BuiltSite(
            self._site.path,
            len(plan_pages) + len(TEXT_PAGES) + 1,
            tuple(sorted(self._changed)),
            len(self._digests) - len(self._changed),
            tuple(removed),
            tuple(self._site.warnings),
        )

    def _update_plan_pages(
        self, plan_pages: Sequence[PagePlan], cache: PageCache | None, tick: Tick | None
    ) -> dict[str, CachedPage]:
        """Render the pages of plans that changed, in several processes if that is faster."""
        old_pages = cache.pages if cache is not None else {}
        fingerprints = [self._plan_fingerprint(plan_page) for plan_page in plan_pages]
        cached_pages: dict[str, CachedPage] = {}
        pending: list[int] = []
        for index, (plan_page, fingerprint) in enumerate(zip(plan_pages, fingerprints, strict=True)):
            old_page = old_pages.get(plan_page.page)
            if old_page is not None and old_page.fingerprint == fingerprint and self._is_intact(old_page):
                cached_pages[plan_page.page] = old_page
                self._digests.update({file.name: file.digest for file in old_page.files})
            else:
                pending.append(index)
        outcomes = run_in_processes(
            lambda position: self._render_plan(plan_pages[pending[position]]),
            len(pending),
            process_count(len(pending)),
            lambda finished: tick(finished, len(pending)) if tick is not None else None,
        )
        for index, (changed, fields) in zip(pending, outcomes, strict=True):
            page = make_page((fingerprints[index], *fields))
            self._digests.update({file.name: file.digest for file in page.files})
            self._changed += changed
            cached_pages[plan_pages[index].page] = page
        return cached_pages

    def _render_plan(self, plan_page: PagePlan) -> tuple[list[str], tuple[Any, ...]]:
        """Write the page of a plan and the copies of its artifacts.

        Return the changed files, and the fields of `CachedPage` after the first one; `marshal` can write them.
        """
        redact_text = self._redactor.redact_text
        stored_plan = plan_store.load(plan_page.project, plan_page.ref)
        published = publish_plan(stored_plan, redact_text)
        facts = plan_page.facts
        copies = {artifact.target: read_copy(artifact, redact_text) for artifact in facts.artifacts if artifact.target}
        sources = read_plan_sources(stored_plan).with_path(plan_page.card.path)
        top_context = plan_page.part.top_context(self._site.path)
        context = plan_page.part.plan_context(self._site.path)
        if plan_page.has_chart and stored_plan.plan is not None:
            events = facts.history if plan_page.project.git is not None else None
            chart = draw_plan_chart(sources, events, plan_page.page)
            facts = facts._replace(charts=(chart,) if chart is not None else ())
        view = load_plan_view(published, plan_page.card, context, self._names, redact_text, facts)
        html = page_rendering.render_plan(view, context, self._names)
        contents = {
            plan_page.page: html.encode("utf-8"),
            **{name: data for name, data in copies.items() if data is not None},
            **{chart.target: chart.svg.encode("utf-8") for chart in facts.charts},
        }
        changed = [name for name, data in contents.items() if self._site.write(name, data)]
        decisions = load_decisions(published, plan_page.card, top_context, self._names)
        return changed, (
            tuple(view.checked_paths.items()),
            tuple([tuple(map(str, decision)) for decision in decisions]),
            sources.to_plain(),
            tuple([(name, digest(data), self._site.status(name)) for name, data in contents.items()]),
        )

    def _update_top_pages(
        self, plan_pages: Sequence[PagePlan], cached_pages: dict[str, CachedPage], cache: PageCache | None
    ) -> None:
        """Render the pages about all plans where something has changed."""
        decisions = [cached_pages[plan_page.page].decisions for plan_page in plan_pages]
        redact_text = self._redactor.redact_text

        def render_texts() -> dict[str, str]:
            return render_text_pages(self._board, plan_pages, decisions, self._top_context, self._names, redact_text)

        has_history = any([part.project.git is not None for part in self._parts])

        def render_charts() -> dict[str, str]:
            sources = [PlanSources.from_plain(cached_pages[plan_page.page].chart_sources) for plan_page in plan_pages]
            return render_chart_files(plan_pages, sources, self._top_context, has_history=has_history)

        fingerprint = self._fingerprint(self._board.cards, decisions)
        self._update_page(BOARD_PAGE, fingerprint, render_texts, cached_pages, cache)
        fingerprint = self._fingerprint([cached_pages[plan.page].fingerprint for plan in plan_pages], self._today)
        self._update_page(CHARTS_PAGE, fingerprint, render_charts, cached_pages, cache)

    def _update_page(
        self,
        page: str,
        fingerprint: str,
        render: Callable[[], dict[str, str]],
        cached_pages: dict[str, CachedPage],
        cache: PageCache | None,
    ) -> None:
        """Render a page and the files that belong to it, unless they are as the cache has them."""
        old_page = cache.pages.get(page) if cache is not None else None
        if old_page is not None and old_page.fingerprint == fingerprint and self._is_intact(old_page):
            self._digests.update({file.name: file.digest for file in old_page.files})
            cached_pages[page] = old_page
            return
        texts = render()
        self._site.claim(texts)
        for name, text in texts.items():
            self._write(name, text.encode("utf-8"))
        files = tuple([WrittenFile(name, self._digests[name], self._site.status(name)) for name in texts])
        cached_pages[page] = CachedPage(fingerprint, (), (), (), files)

    def _plan_fingerprint(self, plan_page: PagePlan) -> str:
        """Return a digest of everything that a plan's page depends on, except the paths that it links to."""
        card = plan_page.card._replace(idle_days=None)  # the page shows the date, and the browser its age
        return self._fingerprint(card, plan_page.facts, self._today if plan_page.has_chart else "")

    def _fingerprint(self, *parts: object) -> str:
        return digest(repr((self._common_digest, parts)).encode("utf-8", "surrogatepass"))

    def _is_intact(self, page: CachedPage) -> bool:
        """Return whether the files of a page are as they were written, and its links lead where they led."""
        return all([self._site.status(file.name) == file.status for file in page.files]) and all(
            [os.path.lexists(path) == existed for path, existed in page.checked_paths]
        )

    def _write(self, name: str, data: bytes) -> None:
        if self._site.write(name, data):
            self._changed.append(name)
        self._digests[name] = digest(data)
