"""The site as a Django app: its commands, sign-in and home page."""

from django.apps import AppConfig


class SoundingsConfig(AppConfig):
    name = "soundings"
    verbose_name = "Soundings"
