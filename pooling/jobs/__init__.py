"""Long work: what runs it, and the pages and calls that show how far it is."""
