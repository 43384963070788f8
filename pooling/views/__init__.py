"""Pages of stage 1, one module per noun: guard, fetch through access.py, parse, call one function, render."""
