"""Which K: the table by hand, and the K that reaches a recall against a search through all of them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation import evaluate, k_reaching, tradeoff_table
from evaluation.rendering.formats import render
from evaluation.rendering.tradeoffs import trade_offs
from tests.evaluation.comparisons.test_comparison import ranked

# q1 finds its two documents at 1 and 4, q2 its only one at 3; q3 has none that is relevant.
QRELS = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}, "q3": {"a": 0}}
RUN = {"q1": ranked("a", "x", "y", "b"), "q2": ranked("x", "y", "a"), "q3": ranked("a")}


def test_the_table_has_the_measures_side_by_side() -> None:
    table = tradeoff_table(evaluate(QRELS, {"run": RUN}, (1, 3, 4)))

    assert table["recall"].tolist() == pytest.approx([0.25, 0.75, 1.0])
    assert table["precision"].tolist() == pytest.approx([0.5, 1 / 3, (2 / 4 + 1 / 4) / 2])
    assert table["f1"].tolist() == pytest.approx([(2 / 3 + 0) / 2, (2 / 5 + 2 / 4) / 2, (4 / 6 + 2 / 5) / 2])
    assert table["recall_per_place"].tolist() == pytest.approx([0.25, 0.25, 0.25])
    assert table["added_per_place"].tolist() == pytest.approx([0.25, 0.25, 0.25])


@pytest.mark.parametrize(
    ("target", "k"),
    [(0.1, 1), (0.25, 1), (0.26, 3), (0.75, 3), (1.0, 4)],
)
def test_the_least_k_that_reaches_a_recall(target: float, k: int) -> None:
    assert k_reaching(evaluate(QRELS, {"run": RUN}, 1), "run", target) == k


def test_a_recall_that_the_run_never_reaches() -> None:
    short = {"q1": ranked("a"), "q2": ranked("x")}
    result = evaluate(QRELS, {"run": short, "nothing": {"q1": ranked("x")}}, 1)

    assert k_reaching(result, "run", 0.5) is None
    assert k_reaching(result, "nothing", 0.01) is None
    for target in (0, 1.5):
        with pytest.raises(ValueError, match="cannot be reached"):
            k_reaching(result, "run", target)
    with pytest.raises(ValueError, match="no run 'other'"):
        k_reaching(result, "other", 0.5)


documents = st.lists(st.sampled_from(list("abcdefgh")), min_size=1, unique=True)


@given(
    relevant=st.tuples(documents, documents),
    lists=st.tuples(documents, documents),
    target=st.sampled_from([0.1, 1 / 3, 0.5, 2 / 3, 0.9, 1.0]),
)
def test_the_k_found_is_the_first_whose_mean_recall_is_there(
    relevant: Any, lists: Any, target: float
) -> None:
    qrels = {f"q{number}": dict.fromkeys(names, 1) for number, names in enumerate(relevant)}
    run = {f"q{number}": ranked(*names) for number, names in enumerate(lists)}
    result = evaluate(qrels, {"run": run}, range(1, 10), ["recall"], bootstrap_samples=1)
    reaching = [k for k in range(1, 10) if result.figure("run", "recall", k)["mean"] >= target - 1e-9]

    assert k_reaching(result, "run", target) == (reaching[0] if reaching else None)


def test_trade_offs_as_plain_values() -> None:
    found = trade_offs(evaluate(QRELS, {"run": RUN, "none": {"q1": ranked("z")}}, (1, 4)), (0.25, 0.9))

    assert found["run"]["k_reaching"] == {"0.25": 1, "0.9": 4}
    assert found["none"]["k_reaching"] == {"0.25": None, "0.9": None}
    assert [row["k"] for row in found["run"]["by_k"]] == [1, 4]
    assert found["run"]["by_k"][1]["added_per_place"] == pytest.approx(0.25)
    assert found["none"]["by_k"][0]["recall"] == 0


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_trade_offs_are_a_table_of_their_own(form: str) -> None:
    text = render(evaluate(QRELS, {"run": RUN}, (1, 4)), form, with_trade_offs=True)

    assert "Trade-offs by K" in text
    assert "the least K whose mean recall reaches 0.5: 3" in text


def test_trade_offs_in_json_and_not_in_csv() -> None:
    result = evaluate(QRELS, {"run": RUN}, (1, 4))

    content = json.loads(render(result, "json", with_trade_offs=True))
    assert content["trade_offs"] == trade_offs(result)
    assert "trade_offs" not in json.loads(render(result, "json"))
    with pytest.raises(ValueError, match="CSV does not support"):
        render(result, "csv", with_trade_offs=True)


def test_without_a_query_that_counts_trade_offs_are_undefined() -> None:
    found = trade_offs(evaluate({"q": {"a": 0}}, {"run": {"q": {"a": 1.0}}}, 1))

    assert found["run"]["by_k"][0]["recall"] is None
    assert json.dumps(found, allow_nan=False)
