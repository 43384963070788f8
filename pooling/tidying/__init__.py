"""Things renamed, archived and deleted, with thirty days in which a deletion can be undone.

`kept.py` has the fields of whatever can be archived or deleted, `kinds.py` what stages say of their kinds.
"""
