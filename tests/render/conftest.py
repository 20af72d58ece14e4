"""Reports made by hand."""

from support.made_reports import clean, failed, full, hostile, hundred, many, not_judged

__all__ = ["clean", "failed", "full", "hostile", "hundred", "many", "not_judged"]
