"""Where the time of each prediction went.

`rows` finds what lies in each prediction and gives every instant to one layer of it, `partition` makes parts of that,
`device_runs` says what the compute units did, and `summary` adds up many predictions.
"""
