"""Responses with files: the site's own assets, and copies of artifacts, which no browser runs or shows as a page."""

from __future__ import annotations

import os
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.responses import Response

from execplan.views.site.link_resolver import IMAGE_TYPES

_ASSET_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def asset_response(path: str, data: bytes | None) -> Response:
    """Return a style sheet, script or icon. Raises HTTPException (404) without data."""
    if data is None:
        raise HTTPException(404)
    return Response(data, media_type=_ASSET_TYPES.get(_suffix(path), "application/octet-stream"))


def chart_response(data: bytes | None) -> Response:
    """Return a chart, whose colors are styles inside it. Raises HTTPException (404) without data."""
    if data is None:
        raise HTTPException(404)
    headers = {"Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'"}
    return Response(data, headers=headers, media_type=_ASSET_TYPES[".svg"])


def artifact_response(path: str, data: bytes | None) -> Response:
    """Return an artifact as a download; pages can show images. Raises HTTPException (404) without data."""
    if data is None:
        raise HTTPException(404)
    disposition = f"attachment; filename*=utf-8''{quote(os.path.basename(path), safe='', errors='replace')}"
    headers = {"Content-Disposition": disposition, "Content-Security-Policy": "sandbox; default-src 'none'"}
    return Response(data, headers=headers, media_type=IMAGE_TYPES.get(_suffix(path), "text/plain"))


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()
