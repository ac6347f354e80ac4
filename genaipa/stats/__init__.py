"""The statistics of reports, scores and judges: numpy and scipy in, numbers out.

Values are arrays of 64-bit floats, and labels arrays of whole numbers from 0, a new one for each question, document,
analyst or unit. NaN values are left out. Lengths that differ, negative weights and negative labels are a `ValueError`.
Too little data is no error: the numbers are NaN, and a `Reason` says why, which callers word.

Where to find what:

- `intervals`: of a mean over questions and documents, also of few of either; of a median; of a mean over the documents
  of one question; of the difference between two sets of questions.
- `shares`, `paired_shares`, `counts`: intervals of shares, of their differences, and of F1, over clusters.
- `means`: the difference between the means of two samples.
- `tests`, `permutation`: tests by ranks, exact tests of changed replies, and corrections for many tests.
- `sampling`: how many answers of each cell a sample takes, and by what chance.
- `looks`: the p below which a difference counts while a study is not complete.
- `power`: variance components, and the difference that a study of a given size finds.
- `agreement`, `correlation`, `ranks`: how far scorers, values and orders agree.
- `changes`: of replies between two days.
- `repeats`, `trend`: how far values of the same thing are from one another; the slope on the place in an order.
- `rectified`, `forecast`: what people would say of all, by a judge's scores; how many more scores are enough.
- `panel`, `annotators`: what depends on who scored, and whether a judge may take a person's place.
- `arrays`, `bisection`, `reason`: what these share.
"""
