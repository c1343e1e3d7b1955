"""A run as one page of HTML that needs nothing else: no script, no font, no picture from elsewhere.

Everything that comes from questions, answers, videos or settings is data, and escaped.
"""
