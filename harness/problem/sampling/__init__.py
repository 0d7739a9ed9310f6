"""Draw from a seed: the cases of a grade, and the contents of their tensors.

In come a problem's declarations and a secret seed; out come cases (:mod:`.cases`), their tensors
(:mod:`.inputs`, :mod:`.distributions`) and an estimate of the memory they take (:mod:`.footprint`).
"""
