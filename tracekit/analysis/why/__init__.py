"""Why a prediction took longer than a usual one of its model: parts that add up to the difference.

`order` links rows that could be of several predictions in flight by the order of submission, `parts` splits the
difference, and `explain` tells it for one prediction and for the slowest ones of
a model.
"""
