"""An evaluation as a PDF of A4 pages, to print or to send: what it says first, tables, curve and conventions.

Its text can be selected. Letters are of DejaVu Sans where the machine has it, of the narrower Vera otherwise,
which comes with ReportLab; a letter that the font lacks is printed as a question mark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from evaluation.charts.html_report import HtmlReport, lines_of, means_of, worth_of
from evaluation.charts.html_report import Table as Cells
from evaluation.charts.kinds import default_choice, first_curve

# Regular and bold, the first pair that the machine has.
FONTS = (("DejaVuSans", "DejaVuSans-Bold"), ("Vera", "VeraBd"))
# What the narrower font lacks, in its own letters.
INSTEAD = {"↓": "(falling)", "↑": "(rising)", "→": "to", "−": "-", "▲": "", "▼": "", "≈": "about"}
MARGIN = 50.0
INK, QUIET, LINE, GROUND = "#1d2327", "#545f66", "#c9c5bb", "#f4f2ed"
# A table of more columns has smaller letters.
MANY_COLUMNS = 8


class Look(NamedTuple):
    styles: Mapping[str, Any]
    font: str
    letters: Mapping[int, int]

    def paragraph(self, text: str, style: str = "text") -> Any:
        """Plain text as a paragraph; line breaks stay."""
        from reportlab.platypus import Paragraph

        letters = "".join(self._letter(letter) for letter in text)
        return Paragraph(escape(letters).replace("\n", "<br/>"), self.styles[style])

    def _letter(self, letter: str) -> str:
        if letter == "\n" or ord(letter) in self.letters:
            return letter
        return INSTEAD.get(letter, "?")


def render_pdf(report: HtmlReport) -> bytes:
    """The whole file; the same report gives the same bytes."""
    from reportlab.lib.pagesizes import A4
    from reportlab.platypus import SimpleDocTemplate

    look, out = _look(), BytesIO()

    def footer(canvas: Any, document: Any) -> None:
        canvas.setFont(look.font, 7)
        canvas.setFillColor(QUIET)
        canvas.drawRightString(A4[0] - MARGIN, MARGIN / 2, f"{document.page}")

    document = SimpleDocTemplate(
        out,
        pagesize=A4,
        leftMargin=MARGIN,
        rightMargin=MARGIN,
        topMargin=MARGIN,
        bottomMargin=MARGIN,
        title=report.title,
        author="Soundings",
        lang="en",
        invariant=1,
    )
    document.build(list(_parts(report, look, A4[0] - 2 * MARGIN)), onFirstPage=footer, onLaterPages=footer)
    return out.getvalue()


def _parts(report: HtmlReport, look: Look, width: float) -> Iterator[Any]:
    yield look.paragraph(report.title, "title")
    for number, sentence in enumerate(report.sentences):
        yield look.paragraph(sentence, "text" if number else "answer")
    yield look.paragraph(report.summary, "quiet")
    for note in report.notes:
        yield look.paragraph(note, "note")
    choice = default_choice(report.figures)
    first, *others = means_of(report.figures, report.measures)
    yield from _section(first.title, first.table, look, width, words=first.words)
    if report.draw is not None:
        kind = first_curve(report.figures)
        if kind.is_of_audit:
            yield look.paragraph(kind.title(choice), "heading")
            yield look.paragraph(kind.reading, "quiet")
        yield _picture(report.draw(kind, choice), width)
    for mean in others:
        yield from _section(mean.title, mean.table, look, width, words=mean.words)
    for number, cells in enumerate(report.worth):
        part = worth_of(cells, number)
        yield from _section(part.title, part.table, look, width, words=" ".join(part.notes))
    yield look.paragraph("The numbers with their conventions", "heading")
    for run, line in lines_of(report.figures, choice):
        yield look.paragraph(f"{run}: {line}", "small")
    yield look.paragraph("Where these numbers come from", "heading")
    for line in report.provenance.lines():
        yield look.paragraph(line, "small")


def _section(title: str, table: Cells | None, look: Look, width: float, *, words: str = "") -> Iterator[Any]:
    yield look.paragraph(title, "heading")
    if words:
        yield look.paragraph(words, "small")
    if table is not None:
        yield _table(table, look, width)
        if table.more:
            yield look.paragraph(f"and {table.more} more", "small")


def _table(table: Cells, look: Look, width: float) -> Any:
    """Names on the left take twice the width of a number."""
    from reportlab.platypus import Table, TableStyle

    style = "tiny" if len(table.header) > MANY_COLUMNS else "cell"
    rows = [
        [look.paragraph(text.replace(" [", "\n["), style) for text, _ in row]
        for row in (table.header, *table.rows)
    ]
    shares: Sequence[float] = [2.0, *([1.0] * (len(table.header) - 1))]
    widths = [width * share / sum(shares) for share in shares]
    pdf_table = Table(rows, colWidths=widths, repeatRows=1)
    lines = ("LINEBELOW", (0, 0), (-1, -1), 0.4, LINE)
    pdf_table.setStyle(
        TableStyle([("BACKGROUND", (0, 0), (-1, 0), GROUND), lines, ("VALIGN", (0, 0), (-1, -1), "TOP")])
    )
    return pdf_table


def _picture(svg: bytes, width: float) -> Any:
    import vl_convert
    from reportlab.lib.utils import ImageReader
    from reportlab.platypus import Image

    png = bytes(vl_convert.svg_to_png(svg.decode(), scale=2))
    across, down = ImageReader(BytesIO(png)).getSize()
    return Image(BytesIO(png), width=width, height=width * down / across)


def _look() -> Look:
    from reportlab.lib.styles import ParagraphStyle

    regular, bold, letters = _fonts()
    text = ParagraphStyle("text", fontName=regular, fontSize=9, leading=13, textColor=INK, spaceAfter=4)
    more: dict[str, dict[str, Any]] = {
        "title": {"fontName": bold, "fontSize": 18, "leading": 22, "spaceAfter": 8},
        "answer": {"fontName": bold, "fontSize": 12, "leading": 16, "spaceAfter": 6},
        "heading": {"fontName": bold, "fontSize": 12, "leading": 15, "spaceBefore": 12, "keepWithNext": 1},
        "quiet": {"textColor": QUIET},
        "note": {"backColor": "#fdf2d6", "borderPadding": 4, "spaceBefore": 6, "spaceAfter": 8},
        "small": {"fontSize": 7.5, "leading": 10.5, "textColor": QUIET},
        "cell": {"fontSize": 7.5, "leading": 10, "spaceAfter": 0},
        "tiny": {"fontSize": 6, "leading": 8, "spaceAfter": 0},
    }
    styles = {name: ParagraphStyle(name, parent=text, **values) for name, values in more.items()}
    return Look({"text": text, **styles}, regular, letters)


def _fonts() -> tuple[str, str, Mapping[int, int]]:
    from reportlab.pdfbase.pdfmetrics import registerFont
    from reportlab.pdfbase.ttfonts import TTFError, TTFont

    for regular, bold in FONTS:
        try:
            font = TTFont(regular, f"{regular}.ttf")
            registerFont(font)
            registerFont(TTFont(bold, f"{bold}.ttf"))
        except TTFError:
            continue
        return regular, bold, font.face.charToGlyph
    raise RuntimeError("ReportLab has no fonts.")
