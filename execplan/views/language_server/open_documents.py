"""The documents that the editor has open, and other plans as they are on disk."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lsprotocol import types as lsp
from pygls.uris import from_fs_path, to_fs_path

from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.plan import reader
from execplan.core.plan_store import plan_store
from execplan.core.project import project_discovery
from execplan.views.language_server.document_surroundings import Surroundings
from execplan.views.language_server.editor_positions import UTF_16
from execplan.views.language_server.open_text import OpenText
from execplan.views.language_server.plan_document import PlanDocument

if TYPE_CHECKING:
    import re
    from collections.abc import Collection, Iterator, Sequence

    from execplan.core.project.project import Project


class OpenDocuments:
    """The open documents by the path of their file."""

    def __init__(self) -> None:
        self.encoding = UTF_16
        """Encoding in whose units the editor counts columns."""
        self._documents: dict[str, PlanDocument] = {}
        self._sources: dict[str, tuple[str, int, str]] = {}
        """URI, version and text of each open document, also of one whose project can't be read."""

    @property
    def uris(self) -> list[str]:
        """The URIs of the open documents."""
        return [uri for uri, _, _ in self._sources.values()]

    def open(self, uri: str, version: int, source: str) -> None:
        """Remember a document that the editor has opened."""
        if path := _path_of(uri):
            self._sources[path] = uri, version, source
            self._documents.pop(path, None)

    def change(self, uri: str, version: int, changes: Sequence[lsp.TextDocumentContentChangeEvent]) -> None:
        """Apply changes of the editor to a document."""
        path = _path_of(uri)
        if path not in self._sources:
            return
        text: OpenText = self._documents.get(path) or OpenText(self._sources[path][2], self.encoding)
        for change in changes:
            text = text.with_change(change)
        self._sources[path] = uri, version, text.source
        last_document = self._documents.get(path)
        if last_document is not None:
            self._documents[path] = self._make(path, last_document.surroundings)

    def close(self, uri: str) -> None:
        """Forget a document that the editor has closed."""
        path = _path_of(uri)
        self._sources.pop(path, None)
        self._documents.pop(path, None)

    def refresh(self) -> None:
        """Look up the repository again for all documents, because files have changed."""
        self._documents.clear()

    def get(self, uri: str) -> PlanDocument | None:
        """Return a document that is open or on disk; None if it is neither. Raises ExecplanError."""
        path = _path_of(uri)
        return self.find(path) if path else None

    def find(self, path: str) -> PlanDocument | None:
        """Return the document of a file; None if it is not open and can't be read. Raises ExecplanError."""
        if path in self._sources:
            last_document = self._documents.get(path)
            if last_document is None or last_document.surroundings.is_outdated:
                self._documents[path] = self._make(path, Surroundings.find(path))
            return self._documents[path]
        return self._load(Surroundings.find(path))

    def project_plans(
        self, project: Project, pattern: re.Pattern[bytes], further_paths: Collection[str] = ()
    ) -> Iterator[PlanDocument]:
        """Yield the plans that a project's plans can name: all open ones, and of those on disk the ones that match.

        These are the files in which the pattern is found, and those of further paths.
        """
        for member in project_discovery.related_projects(project):
            for ref in plan_store.all_refs(member):
                is_open = ref.path in self._sources
                if not is_open and ref.path not in further_paths and not _has_match(ref.path, pattern):
                    continue
                document = self.find(ref.path) if is_open else self._load(Surroundings(member, ref))
                if document is not None and document.plan is not None:
                    yield document

    def unsaved_plans(self, project: Project) -> list[PlanDocument]:
        """Return the open documents of a repository whose text differs from their file."""
        documents = [self.find(path) for path in list(self._sources) if path.startswith(f"{project.root}{os.sep}")]
        return [document for document in documents if document is not None and not document.is_saved]

    def _load(self, surroundings: Surroundings) -> PlanDocument | None:
        """Return the document of a file as it is on disk; None if it can't be read."""
        path = surroundings.ref.path
        try:
            text = reader.decode(plan_store.read_bytes(surroundings.project, path))
        except ExecplanError:
            return None
        return PlanDocument(from_fs_path(path) or "", surroundings, text.to_str(), self.encoding)

    def _make(self, path: str, surroundings: Surroundings) -> PlanDocument:
        uri, version, source = self._sources[path]
        return PlanDocument(uri, surroundings, source, self.encoding, version)


def _path_of(uri: str) -> str:
    """Return the path of a file's URI; empty for other documents, such as a new one without a name."""
    return os.path.normpath(to_fs_path(uri) or "") if uri.startswith("file:") else ""


def _has_match(path: str, pattern: re.Pattern[bytes]) -> bool:
    try:
        return pattern.search(file_access.read(path, reader.MAX_BYTES)[0]) is not None
    except ExecplanError:
        return False
