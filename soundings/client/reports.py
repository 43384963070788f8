"""A report of a site, with what `evaluate` hands out by the same names."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from io import BytesIO

from evaluation.measures.registry import key_of
from evaluation.scoring.figures import EvaluationResult, Figure
from evaluation.scoring.results import summary_row
from pooling.heavy import pd
from soundings.client.connection import Connection


@dataclass(frozen=True)
class Report:
    """The numbers of a report as `soundings.evaluate` gives them: `figure`, `convention_line`, `summary`,
    `curve`, `per_query`, `below`, `warnings` and `to_dict` answer alike. `comparisons` has what `compare`
    says of each pair; what needs the runs themselves (`worst_queries`) is on the report's page, at `url`."""

    id: int
    name: str
    url: str
    result: EvaluationResult = field(repr=False)
    _connection: Connection = field(repr=False, compare=False)

    def to_dict(self) -> EvaluationResult:
        """The object of `evaluate --format json`, with `answer`, and with an audit `estimates`."""
        return self.result

    def figure(self, run: str, measure: str, k: int | None = None) -> Figure:
        """The figures of one measure: mean, low, high, queries, and for recall micro, bounds and ties."""
        runs = self.result["runs"]
        if run not in runs:
            raise ValueError(f"There is no run {run}; there are {', '.join(runs)}.")
        key = key_of(measure, k)
        if key not in runs[run]:
            raise ValueError(f"{key} is not in this report; there are {', '.join(runs[run])}.")
        return runs[run][key]

    def convention_line(self, run: str, measure: str, k: int | None = None) -> str:
        """One figure with all that it depends on, as one line of text."""
        return str(self.figure(run, measure, k)["line"])

    def summary(self) -> pd.DataFrame:
        """One row per run, measure and k (missing: the whole run): mean, low, high and the other figures."""
        rows = [
            summary_row(run, key, figure)
            for run, figures in self.result["runs"].items()
            for key, figure in figures.items()
        ]
        table = pd.DataFrame(rows)
        return table.astype({"k": "Int64"}) if len(table) and table["k"].isna().any() else table

    def curve(self, measure: str = "recall") -> pd.DataFrame:
        """The measure over K: run, k, mean, low, high, and for recall its lower_bound and upper_bound."""
        table = self.summary()
        columns = ["run", "k", "mean", "low", "high"]
        columns += ["lower_bound", "upper_bound"] if measure == "recall" else []
        return table.loc[table["measure"] == measure, columns].reset_index(drop=True)

    def per_query(self) -> pd.DataFrame:
        """Values by run, query_id, measure and k (missing: the whole run); NaN for a query left out."""
        table = pd.read_csv(
            BytesIO(self.file("per-query")), dtype={"run": str, "query_id": str}, na_filter=True
        )
        return table.astype({"k": "Int64"}) if table["k"].isna().any() else table

    def below(self) -> list[str]:
        """`measure@k: run` for every run's mean that is below its threshold."""
        thresholds = self.result.get("thresholds", {})
        return [f"{key}: {run}" for key, one in thresholds.items() for run in one["below"]]

    def warnings(self) -> list[str]:
        """That the means rest on fewer queries than was wanted."""
        return list(self.result.get("warnings", []))

    def comparisons(self, k: int | None = None) -> pd.DataFrame:
        """Every pair of runs at one K (10, or the nearest, unless given), as the report's page has them."""
        query = None if k is None else {"k": k}
        answer = self._connection.call("GET", f"reports/{self.id}/comparisons/", query=query).json()
        return pd.DataFrame(answer["comparisons"])

    def _repr_html_(self) -> str:
        """For notebooks: its name, and the table of `summary`."""
        return f"<p>{escape(self.name)}</p>{self.summary().to_html(index=False, na_rep='')}"

    def file(self, format: str = "csv") -> bytes:
        """The report as a file, in a format that its page offers, such as csv, markdown, html or pdf."""
        return self._connection.call("GET", f"reports/{self.id}/files/{format}/").content
