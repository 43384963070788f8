"""Sign-in by a provider, roles by groups, a second factor; allauth is imported where it is in use."""
