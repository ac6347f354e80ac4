"""The statistics of reports, scores and judges: numpy and scipy in, numbers out.

Values are arrays of 64-bit floats, and labels arrays of whole numbers from 0, a new one for each question, document,
analyst or unit. NaN values are left out. Lengths that differ, negative weights and negative labels are a `ValueError`.
Too little data is no error: the numbers are NaN, and a `Reason` says why, which callers word.

- `intervals`: of a mean over questions and documents, also of few of either; of independent draws; of two sets.
- `documents`, `means`: of a mean over groups of means over documents; of the difference of two samples (Welch).
- `shares`, `paired_shares`: of shares near 0 and 1 over clusters, their differences, shares of the same questions.
- `counts`: figures of counts that add up, such as F1, with intervals over clusters.
- `tests`: by ranks, of pairs and of independent sets; Holm's correction, false discoveries.
- `permutation`: exact tests of whether replies changed between two days.
- `ranks`: of values; their correlation over things that are ranked twice; which ranks differences leave open.
- `looks`: the p below which a difference counts while a study is not complete.
- `power`: variance components, and the difference that a study of a given size finds.
- `agreement`, `annotators`: Krippendorff's alpha and Gwet's AC2, leniency; whether a judge may replace a person.
- `correlation`, `trend`: Pearson's r over clusters; the slope on the place in an order.
- `panel`: the part of the analysts in the variance of a mean.
- `repeats`: how far values of the same thing are from one another.
- `estimates`, `forecast`: what people would say of all, by a judge's scores; how many more scores are enough.
"""
