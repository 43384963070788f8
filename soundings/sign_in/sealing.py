from __future__ import annotations

from allauth.mfa.adapter import DefaultMFAAdapter
from django.contrib.auth.models import AbstractBaseUser

from pooling.storage.secrets import seal, unseal


class SealedSecrets(DefaultMFAAdapter):  # type: ignore[misc]  # untyped
    """Secrets of apps and seeds of recovery codes are sealed as keys of model servers are."""

    def encrypt(self, text: str) -> str:
        return seal(text)

    def decrypt(self, encrypted_text: str) -> str:
        return unseal(encrypted_text)

    def get_totp_label(self, user: AbstractBaseUser) -> str:
        return user.get_username()
