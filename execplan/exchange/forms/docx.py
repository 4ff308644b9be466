"""A plan as a document for word processors (Office Open XML), written with the standard library."""

from __future__ import annotations

import io
import zipfile
from html.parser import HTMLParser
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from execplan.core.plan.model import ParsedPlan
from execplan.exchange.exchange_plan import ExchangePlan, ExportedFiles
from execplan.exchange.forms.html import render_body
from execplan.exchange.forms.markdown import document_losses, document_text

_WORD: Final = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_RELATIONSHIPS: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006"
_HEAD: Final = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_CONTENT_TYPES: Final = (
    f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>'
    '<Override PartName="/word/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"/>'
    "</Types>"
)
_ROOT_LINKS: Final = (
    f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="document" Type="{_RELATIONSHIPS}/officeDocument" Target="word/document.xml"/></Relationships>'
)
_TIME: Final = (1980, 1, 1, 0, 0, 0)
"""Time of the files in the archive, the earliest that it can have: the same plan gives the same bytes."""
_BOXES: Final = {"done": "☑ ", "open": "☐ "}
_INDENT: Final = 360
"""Width of a level of lists, in twentieths of a point."""
_RUNS: Final = {"strong": "<w:b/>", "em": "<w:i/>", "del": "<w:strike/>", "code": '<w:rStyle w:val="Code"/>'}
_ORDER: Final = ("code", "strong", "em", "del")
"""The order that the schema wants of the properties of a run."""


_HEADINGS: Final = tuple([f"h{level}" for level in range(1, 7)])
_BLOCKS: Final = frozenset(("p", "pre", "li", "blockquote", "td", "th", "ul", "ol", "hr", *_HEADINGS))
"""Elements that begin a paragraph, and end the one before."""
_STYLES: Final = {"pre": "CodeBlock"} | {name: f"Heading{name[1]}" for name in _HEADINGS}
_FORMAT_OF: Final = {"blockquote": "em", "th": "strong"}
_LINE_BREAK: Final = "<w:r><w:br/></w:r>"
_TABLE: Final = (
    '<w:tbl><w:tblPr><w:tblW w:w="0" w:type="auto"/><w:tblBorders>'
    + "".join(
        [
            f'<w:{side} w:val="single" w:sz="4" w:space="0" w:color="808080"/>'
            for side in ("top", "left", "bottom", "right", "insideH", "insideV")
        ]
    )
    + "</w:tblBorders></w:tblPr><w:tblGrid/>"
)
_CELL: Final = '<w:tc><w:tcPr><w:tcW w:w="0" w:type="auto"/></w:tcPr>'
_RULE: Final = '<w:p><w:pPr><w:pBdr><w:bottom w:val="single" w:sz="6" w:space="1"/></w:pBdr></w:pPr></w:p>'
_TABLE_STARTS: Final = {"table": _TABLE, "tr": "<w:tr>", "td": _CELL, "th": _CELL, "hr": _RULE}
_TABLE_ENDS: Final = {"table": "</w:tbl><w:p/>", "tr": "</w:tr>", "td": "</w:tc>", "th": "</w:tc>"}


def write(parsed: ParsedPlan, plan: ExchangePlan) -> ExportedFiles:
    """Return the plan as a document."""
    builder = _DocumentBuilder()
    builder.feed(render_body(document_text(parsed, plan.title), plan.title))
    builder.close()
    parts = {
        "[Content_Types].xml": _CONTENT_TYPES,
        "_rels/.rels": _ROOT_LINKS,
        "word/document.xml": builder.document(),
        "word/styles.xml": _styles(),
        "word/_rels/document.xml.rels": builder.links(),
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name, _TIME), content.encode(), zipfile.ZIP_DEFLATED)
    return ExportedFiles({"": file.getvalue()}, document_losses(parsed))


class _DocumentBuilder(HTMLParser):
    """Builds the paragraphs and tables of a document from the HTML of a plan."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._body: list[str] = []
        self._runs: list[str] = []
        self._style = ""
        self._formats: list[str] = []
        self._lists: list[int] = []
        """Number of the last item of each list around the text; 0 in one without numbers."""
        self._marker = ""
        self._is_code = False
        self._link = ""
        self._addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a paragraph, a list, a cell or a format."""
        attributes = {name: value or "" for name, value in attrs}
        if tag in _BLOCKS:
            self._end_paragraph()
            self._style = _STYLES.get(tag, self._style)
            self._is_code = tag == "pre"
        if tag in ("ul", "ol"):
            self._lists.append(int(attributes.get("start") or 1) if tag == "ol" else 0)
        elif tag == "li":
            self._begin_item()
        elif tag == "span" and attributes.get("class") == "box":
            self._marker = _BOXES.get(attributes.get("aria-label", ""), "")
        elif tag == "a" and attributes.get("href", "").startswith(("https://", "http://", "mailto:")):
            self._addresses.append(attributes["href"])
            self._link = f"link{len(self._addresses)}"
        self._body += [_TABLE_STARTS[tag]] if tag in _TABLE_STARTS else []
        self._runs += [_LINE_BREAK] if tag == "br" else []
        name = _FORMAT_OF.get(tag, tag)
        if name in _RUNS and not self._is_code:
            self._formats.append(name)

    def _begin_item(self) -> None:
        number = self._lists[-1] if self._lists else 0
        self._marker = f"{number}. " if number else "• "
        if number:
            self._lists[-1] += 1

    def handle_endtag(self, tag: str) -> None:
        """End what `handle_starttag` began."""
        name = _FORMAT_OF.get(tag, tag)
        if tag in _BLOCKS:
            self._end_paragraph(is_needed=tag in ("td", "th"))
        if tag in ("ul", "ol"):
            self._lists.pop()
        elif tag == "a":
            self._link = ""
        self._body += [_TABLE_ENDS[tag]] if tag in _TABLE_ENDS else []
        if tag == "pre":
            self._is_code = False
        elif name in self._formats and not self._is_code:
            last = len(self._formats) - 1 - self._formats[::-1].index(name)
            del self._formats[last]

    def handle_data(self, data: str) -> None:
        """Add text to the paragraph; line ends count only in code."""
        if self._is_code:
            for number, line in enumerate(data.removesuffix("\n").split("\n")):
                self._runs += [_LINE_BREAK] if number else []
                self._add_run(line)
            return
        text = data.replace("\n", " ")
        text = text if self._runs else text.lstrip(" ")
        if text.strip() or self._runs:
            self._add_run(text)

    def _add_run(self, text: str) -> None:
        clean = "".join([char if char == "\t" or char.isprintable() else " " for char in text])
        properties = "".join([_RUNS[name] for name in _ORDER if name in self._formats])
        if self._link:
            properties += '<w:color w:val="0563C1"/><w:u w:val="single"/>'
        run = f'<w:r>{f"<w:rPr>{properties}</w:rPr>" if properties else ""}<w:t xml:space="preserve">{escape(clean)}</w:t></w:r>'
        self._runs.append(f'<w:hyperlink r:id="{self._link}">{run}</w:hyperlink>' if self._link else run)

    def _end_paragraph(self, *, is_needed: bool = False) -> None:
        """Write the paragraph if it has text; the last one of a cell is needed."""
        if not self._runs and not is_needed:
            return
        indent = _INDENT * len(self._lists)
        hanging = f' w:hanging="{_INDENT}"' if self._marker else ""
        properties = f'<w:pStyle w:val="{self._style}"/>' if self._style else ""
        properties += f'<w:ind w:left="{indent}"{hanging}/>' if indent else ""
        marker = f'<w:r><w:t xml:space="preserve">{self._marker}</w:t></w:r>' if self._marker else ""
        self._body.append(f"<w:p><w:pPr>{properties}</w:pPr>{marker}{''.join(self._runs)}</w:p>")
        self._runs, self._style, self._marker = [], "", ""

    def document(self) -> str:
        """Return the part with the text."""
        self._end_paragraph()
        return (
            f'{_HEAD}<w:document xmlns:w="{_WORD}" xmlns:r="{_RELATIONSHIPS}"><w:body>{"".join(self._body)}'
            "<w:sectPr/></w:body></w:document>"
        )

    def links(self) -> str:
        """Return the part with the addresses of links."""
        links = [
            f'<Relationship Id="link{number}" Type="{_RELATIONSHIPS}/hyperlink" Target={quoteattr(address)} TargetMode="External"/>'
            for number, address in enumerate(self._addresses, 1)
        ]
        styles = f'<Relationship Id="styles" Type="{_RELATIONSHIPS}/styles" Target="styles.xml"/>'
        return f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">{styles}{"".join(links)}</Relationships>'


def _styles() -> str:
    """Return the part with the styles of headings and code."""
    headings = "".join(
        [
            f'<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/><w:basedOn w:val="Normal"/>'
            f'<w:pPr><w:keepNext/><w:spacing w:before="240" w:after="80"/><w:outlineLvl w:val="{level - 1}"/></w:pPr>'
            f'<w:rPr><w:b/><w:sz w:val="{max(36 - 4 * level, 22)}"/></w:rPr></w:style>'
            for level in range(1, 7)
        ]
    )
    font = '<w:rFonts w:ascii="Consolas" w:hAnsi="Consolas" w:cs="Consolas"/>'
    return (
        f'{_HEAD}<w:styles xmlns:w="{_WORD}">'
        '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/>'
        '<w:pPr><w:spacing w:after="80"/></w:pPr><w:rPr><w:sz w:val="22"/></w:rPr></w:style>'
        f"{headings}"
        '<w:style w:type="paragraph" w:styleId="CodeBlock"><w:name w:val="Code Block"/><w:basedOn w:val="Normal"/>'
        f'<w:pPr><w:shd w:val="clear" w:fill="F3F4F6"/></w:pPr><w:rPr>{font}<w:sz w:val="18"/></w:rPr></w:style>'
        f'<w:style w:type="character" w:styleId="Code"><w:name w:val="Code"/><w:rPr>{font}</w:rPr></w:style>'
        "</w:styles>"
    )
