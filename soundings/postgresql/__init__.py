"""Django's PostgreSQL, without the question that it asks the server before each request."""
