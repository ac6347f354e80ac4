"""The statistics of reports, scores and judges: numpy and scipy in, numbers out.

Values are arrays of 64-bit floats, and labels arrays of whole numbers from 0, a new one for each question, document,
analyst or unit. NaN values are left out. Lengths that differ, negative weights and negative labels are a `ValueError`.
Too little data is no error: the numbers are NaN, and a `Reason` says why, which callers word.
"""
