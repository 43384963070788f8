"""Stage 1: collections, runs and the pools made of them."""
