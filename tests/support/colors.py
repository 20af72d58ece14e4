"""How far colors are apart, and how well one can be read on another.

Color vision is simulated with the matrices for a severity of 1.0 of G. M. Machado, M. M. Oliveira, L. A. F. Fernandes,
"A Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE TVCG 15 (6), 2009, on linear RGB.
Distances are CIE 1976 in L*a*b* (CIE 015:2018) with the white of sRGB (IEC 61966-2-1). Contrast is that of WCAG 2.2.
"""

from __future__ import annotations

import numpy as np

VISIONS = {
    "usual": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(color: str) -> np.ndarray:
    value = np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    ratio = XYZ @ rgb / (XYZ @ np.ones(3))
    root = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def distance(one: str, other: str, vision: str) -> float:
    seen = [np.clip(VISIONS[vision] @ linear(color), 0, 1) for color in (one, other)]
    return float(np.linalg.norm(lab(seen[0]) - lab(seen[1])))


def contrast(one: str, other: str) -> float:
    bright, dark = sorted((float(XYZ[1] @ linear(color)) for color in (one, other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)
