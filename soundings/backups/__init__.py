"""The whole installation in one file, and out of it again, on either database."""
