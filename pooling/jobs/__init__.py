"""Long work: what runs it, and the pages and calls that show how far it is."""

# Work that was queued before this was a package is stored under this name.
from pooling.jobs.running import run_job

__all__ = ["run_job"]
