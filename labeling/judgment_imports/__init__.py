"""Judgments that were given elsewhere: imported as events of people, and taken back."""
