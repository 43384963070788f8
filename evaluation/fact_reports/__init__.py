"""Facts in a report: how many the first K hold, which are missed, and what brings nothing new."""
