"""The code behind loads and predictions: who called, and what the call was busy with.

All of it is inferred from samples of call stacks and from names of functions of the system. Threads that wait are not
sampled: samples are never added up to elapsed time, and a gap between two of them ends nothing.
"""
