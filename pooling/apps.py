from importlib import import_module

from django.apps import AppConfig


class PoolingConfig(AppConfig):
    name = "pooling"
    verbose_name = "Pooling"

    def ready(self) -> None:
        from pooling.jobs.registering import load_what_registers

        load_what_registers(self.module)
        # Before a connection is opened, which has to know natural order.
        import_module("pooling.tables.natural")
