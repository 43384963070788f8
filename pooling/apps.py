from importlib import import_module

from django.apps import AppConfig


class PoolingConfig(AppConfig):
    name = "pooling"
    verbose_name = "Pooling"

    def ready(self) -> None:
        from pooling.interface.registering import registers

        registers(self.module)
        # Before a connection is opened, which has to know natural order.
        import_module("pooling.tables.natural")
