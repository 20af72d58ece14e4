"""Core ML model files: `read_model(path)` gives their facts, whatever the form of the file.

Packages and specifications are read with the message types of coremltools, compiled models and the JSON of
`xcrun coremlcompiler metadata` without it. Knows nothing of recordings.
"""
