"""Stage 1 as a Django app."""

from importlib import import_module

from django.apps import AppConfig

# Modules that say which work is theirs: imports of files, and what the background worker does.
WORKING = (
    "pools.building",
    "pools.kinds",
    "runs.stored",
    "texts.importing",
    "texts.taking_back",
    "engines.running",
)


class PoolingConfig(AppConfig):
    name = "pooling"
    verbose_name = "Pooling"

    def ready(self) -> None:
        """Register the kinds of jobs, for the worker as for the site, and what SQLite has to know."""
        for module in WORKING:
            import_module(f"pooling.{module}")
        # Before a connection is opened, which has to know natural order.
        import_module("pooling.tables.natural")
