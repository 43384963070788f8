"""Facts as an admin keeps them: listed, written, edited, confirmed, merged, brought in and out."""
