"""Facts of queries, and which documents support them, as files tell them."""
