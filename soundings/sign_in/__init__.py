"""Sign-in by a company's provider, roles by its groups, and a second factor of passwords.

django-allauth is an extra: what needs it is imported only where a setting has it in use.
"""
