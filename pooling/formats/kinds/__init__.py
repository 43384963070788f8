"""One module for a few file formats, whose entries in `FORMATS` the registry finds here."""
