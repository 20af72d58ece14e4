"""Requests to language models, whatever recorded them: signposts of a runtime, or the tables of Foundation Models."""
