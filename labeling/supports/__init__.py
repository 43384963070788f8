"""Queues of facts: which facts of a query a document supports, judged a page of nine at a time."""
