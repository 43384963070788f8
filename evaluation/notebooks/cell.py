"""A result as a small HTML table: the answer in words, intervals, coverage, and the conventions."""

from __future__ import annotations

from html import escape

from evaluation.comparisons.answer import Answer
from evaluation.comparisons.wording import answer_in_words, of_relevant_count
from evaluation.measures import titled
from evaluation.scoring.figures import as_read, mean_as_read
from evaluation.scoring.results import Evaluation, decimal, interval, percent

#: More columns do not fit next to each other in a cell.
MOST_CUTOFFS = 5
# The colours of the page around it, so that a dark notebook stays dark.
_STYLE = """<style>
.soundings { overflow-x: auto }
.soundings p { margin: .4em 0; max-width: 75ch }
.soundings small { opacity: .8 }
.soundings table { border-collapse: collapse }
.soundings table, .soundings tr, .soundings th, .soundings td { background: none; color: inherit }
.soundings th, .soundings td { border: 0 solid; border-bottom-width: 1px; padding: 4px 14px 4px 0 }
.soundings th, .soundings td { border-color: rgba(128, 128, 128, .4); text-align: right; white-space: nowrap }
.soundings th:first-child { text-align: left }
</style>
"""


def table_of_cell(result: Evaluation, answer: Answer | None) -> str:
    """HTML with every text escaped; it takes the colours of the page."""
    measure, at = result.example_key()
    cutoffs = _cutoffs([k for name, k in result.keys if name == measure], at)
    head = "".join(f'<th scope="col">{escape(titled(measure, k))}</th>' for k in cutoffs)
    judged = f"judged@{at}" if at is not None else f"judged@{int(result.cutoffs[-1])}"
    rows = []
    for name in _best_first(result, measure, at):
        cells = "".join(f"<td>{_figure(result, name, measure, k)}</td>" for k in cutoffs)
        share = result.runs[name].figures.get(judged)
        covered = "–" if share is None else percent(mean_as_read(share))
        rows.append(f'<tr><th scope="row">{escape(name)}</th>{cells}<td>{escape(covered)}</td></tr>')
    sentences = () if answer is None else answer_in_words(answer)
    best = _best_first(result, measure, at)[:1]
    line = [f"{name}: {result.convention_line(name, measure, at)}" for name in best]
    below = [basis_line(result), *line, *result.notes, *result.warnings(), *result.below()]
    header = f'<th scope="col">run</th>{head}<th scope="col">{escape(judged)}</th>'
    table = f"<table><thead><tr>{header}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    words = _paragraphs(sentences, strong=True), _paragraphs(below, strong=False)
    return f'{_STYLE}<div class="soundings">{words[0]}{table}{words[1]}</div>'


def basis_line(result: Evaluation) -> str:
    """A line on what the means of the table rest on, and what recall is a recall of."""
    means = f"Means over queries {result.rests_on}"
    if "complete" in result.settings or "recall" not in result.measures:
        return f"{means}."
    return f"{means}; recall is {of_relevant_count(int(result.labels.relevant.sum()))}."


def _cutoffs(cutoffs: list[int | None], at: int | None) -> list[int | None]:
    """Those that fit, the one that sentences are about among them."""
    if len(cutoffs) <= MOST_CUTOFFS:
        return cutoffs
    place = cutoffs.index(at)
    first = min(max(0, place - MOST_CUTOFFS // 2), len(cutoffs) - MOST_CUTOFFS)
    return cutoffs[first : first + MOST_CUTOFFS]


def _best_first(result: Evaluation, measure: str, k: int | None) -> list[str]:
    means = {name: result.figure(name, measure, k)["mean"] for name in result.runs}
    return sorted(result.runs, key=lambda name: -(means[name] or 0.0))


def _figure(result: Evaluation, run: str, measure: str, k: int | None) -> str:
    figure = as_read(result.figure(run, measure, k))
    return f"{escape(decimal(figure['mean']))}<small>{escape(interval(figure))}</small>"


def _paragraphs(sentences: tuple[str, ...] | list[str], *, strong: bool) -> str:
    """The first of them loud, or all of them quiet."""
    quiet = [f"<p><small>{escape(one)}</small></p>" for one in sentences]
    if not strong or not sentences:
        return "".join(quiet)
    first, *others = sentences
    return f"<p><strong>{escape(first)}</strong></p>" + "".join(f"<p>{escape(one)}</p>" for one in others)
