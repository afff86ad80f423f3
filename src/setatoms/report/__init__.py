"""One page to look at: what stands out in a table, why, and how it was found."""

from setatoms.report.data import AtomTable, ReportData
from setatoms.report.page import make_page, write_report

__all__ = ["AtomTable", "ReportData", "make_page", "write_report"]
