"""Pages for operators of a site: logs, figures, readiness, errors, and the page Health."""
