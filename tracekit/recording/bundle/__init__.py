"""Reads `.trace` bundles natively: the document that Instruments and `xctrace record` write.

Apple does not document the format. Facts were taken from bundles of Instruments 16.0 (Xcode 16.2 and 16.4) and
macOS 26.1, and checked against exports of the same recordings. What a guard does not recognize is not read.
"""
