"""Thirty questions about real videos."""
