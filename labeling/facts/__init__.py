"""Facts that answers need: written, confirmed, imported, and what documents say of them as labels."""
