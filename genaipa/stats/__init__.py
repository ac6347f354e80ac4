"""The statistics of reports, scores and judges: numpy and scipy in, numbers out.

Values are arrays of 64-bit floats, and labels arrays of whole numbers from 0, a new one for each question, document,
analyst or unit. NaN values are left out. Lengths that differ, negative weights and negative labels are a `ValueError`.
Too little data is no error: the numbers are NaN, and a `Reason` says why, which callers word.

- `intervals`: of a mean over questions and documents, also of few of either; of independent draws; of two sets.
- `tests`: by ranks, of pairs and of independent sets; Holm's correction, false discoveries.
- `ranks`: of values; their correlation over things that are ranked twice; which ranks differences leave open.
- `counts`: figures of counts that add up, such as F1, with intervals over clusters.
- `permutation`: exact tests of whether replies changed between two days.
- `looks`: the p below which a difference counts while a study is not complete.
- `power`: variance components, and the difference that a study of a given size finds.
"""
