from django.apps import AppConfig


class LabelingConfig(AppConfig):
    name = "labeling"
    verbose_name = "Labeling"

    def ready(self) -> None:
        from pooling.jobs.registering import load_what_registers

        load_what_registers(self.module)
