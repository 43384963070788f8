"""What other programs call our measures: trec_eval in its output, MLflow among its metrics."""

from __future__ import annotations

# trec_eval's names, with a place for K; what it does not have keeps our name.
_TREC_EVAL_AT_K = {"precision": "P_{}", "ndcg": "ndcg_cut_{}", "map": "map_cut_{}"}
_TREC_EVAL_WHOLE = {"mrr": "recip_rank", "rprecision": "Rprec", "infap": "infAP"}


def trec_eval_name(measure: str, k: int | None) -> str:
    """The name in the first column of trec_eval's output.

    >>> trec_eval_name("recall", 10), trec_eval_name("precision", 5), trec_eval_name("mrr", None)
    ('recall_10', 'P_5', 'recip_rank')
    """
    if k is None:
        return _TREC_EVAL_WHOLE.get(measure, measure)
    return _TREC_EVAL_AT_K.get(measure, f"{measure}_{{}}").format(k)


def mlflow_name(measure: str, k: int | None) -> str:
    """A metric's name in MLflow, which refuses an @.

    >>> mlflow_name("recall", 10), mlflow_name("map", None)
    ('recall_at_10', 'map')
    """
    return measure if k is None else f"{measure}_at_{k}"
