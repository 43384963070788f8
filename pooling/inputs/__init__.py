"""Runs, labels and pools as programs have them, each turned into one kind of frame."""
