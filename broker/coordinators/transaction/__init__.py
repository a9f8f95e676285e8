"""The transaction coordinator and its transaction markers."""
