"""An app that tags photos, album by album: it loads its model for each album, and something keeps the last one alive.

The footprint is recorded, and what the app allocates of Metal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.testing.machines import Process
from tracekit.testing.recorder import neural_engine, start_recording
from tracekit.testing.rng import Draws
from tracekit.testing.rows import Model

if TYPE_CHECKING:
    from tracekit.testing.scenario import Scenario

ALBUMS, PHOTOS = 7, 36
MODEL_BYTES, METAL_BYTES = 184_000_000, 12_582_912
"""What each load adds, and what it allocates of Metal."""
_APP = Process("AlbumTagger", 2_604, "/private/var/containers/Bundle/Application/AlbumTagger.app/AlbumTagger")
_MODEL = Model("PhotoTagger")
_MS = 1_000_000


def album_memory() -> Scenario:
    """Seven albums, one after the other; the device warms up with the fifth."""
    app = start_recording(Draws(47), machine=5, attached=False, memory=True)
    app.scenario.target = _APP
    app.scenario.start_date = "2026-11-20T09:41:12.208+01:00"
    app.pause(1_400 * _MS)
    for album in range(ALBUMS):
        app.load(_MODEL, 210 * _MS)
        app.hold(MODEL_BYTES)
        app.hold_on_gpu(METAL_BYTES)
        if album == 4:
            app.thermal("Fair")
        for _ in range(PHOTOS):
            app.predict(_MODEL, neural_engine((11 if album < 4 else 12) * _MS), inputs=1)
            app.pause(95 * _MS)
        app.pause(6_400 * _MS)
    return app.finish()
