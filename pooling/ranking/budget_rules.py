"""Rules that spread the budget of a queue over queries; applied in `pooling/ranking/selection.py`."""

#: The same number of documents for each query, the same share of each pool, or wherever they are relevant.
EQUAL, SHARE, GREEDY = "equal", "share", "greedy"
#: Documents that are chosen together.
BATCH = 10
