"""The account of time: what each prediction took beyond a usual one, by cause, with the evidence for each part.

Every ns of a difference has one cause. Strong evidence comes first: rows that name the call, samples of its thread, the
order of a unit's rows, states of the device, then patterns over many calls; what is left is not visible. Rules of
latency, `why`, the sentences on p95 and replays read these columns and add none of their own.
"""
