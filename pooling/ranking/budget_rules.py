"""How the budget of a queue may be spread over queries, by name; `pooling/ranking/selection.py` does it."""

#: The same number of documents for each query, the same share of each pool, or wherever they are relevant.
EQUAL, SHARE, GREEDY = "equal", "share", "greedy"
#: Documents that are chosen together.
BATCH = 10
