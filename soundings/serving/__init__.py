"""gunicorn and the background workers under one command."""
