"""`evaluate` in a notebook: a table, pictures, a file, and a line in MLflow."""
