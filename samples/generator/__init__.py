"""Fictional mails, documents and the truth about them, from one set of data."""
