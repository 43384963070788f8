"""What operators see of a site: logs, figures, readiness, errors, and the page Health."""
