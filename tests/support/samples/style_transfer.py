"""A camera app that draws each frame in the style of a painting, as in WWDC22 session 10027.

Its first version kept the model in a computed property and so loaded it again for each frame; the repaired one keeps it
in a lazy stored property. Figures of the session: loads 6.41 s (17.17 ms on average), predictions 2.69 s (7.2 ms).
"""

from __future__ import annotations

from dataclasses import dataclass

from support.samples.common import catch_load, draw_interface, draw_phone_screen, share
from support.scenarios import app_method
from tracekit.testing import gpu, neural_engine
from tracekit.testing.code import Code
from tracekit.testing.machines import BACKBOARD, Process
from tracekit.testing.rng import Draws, on_clock
from tracekit.testing.rows import Model
from tracekit.testing.scenario import Prediction, Scenario


@dataclass(frozen=True, slots=True)
class Style:
    """One style of the app and how long it is used."""

    model: str
    frames: int
    load_weight: int
    """Load time relative to the other styles, in percent."""
    prediction_weight: int


STYLES = (
    Style("Watercolor", 61, 112, 106),
    Style("InkWash", 84, 92, 97),
    Style("Pointillism", 81, 104, 101),
    Style("Mosaic", 77, 88, 95),
    Style("StainedGlass", 70, 101, 100),
)
"""The session names Watercolor only."""

LOADS_NS = 6_405_200_000
"""Total of 373 loads: 6.41 s, 17.17 ms on average."""
PREDICTIONS_NS = 2_686_000_000
"""Total of 373 predictions: 2.69 s, 7.20 ms on average."""

_FRAME_NS = 33_333_375
"""The camera delivers 30 frames a second."""
_SWITCH_NS = 740_000_000
"""The user takes a moment to choose the next style."""
_APP = Process("StyleCam", 2147, "/private/var/containers/Bundle/Application/StyleCam.app/StyleCam")
_CAMERA = app_method("StyleCam", "CameraFeed", "captured", 88)
"""What the camera calls for each frame, on a queue of its own."""
_LOAD_LINE, _PREDICT_LINE = 42, 43
_OTHERS = [BACKBOARD, Process("mediaserverd", 88, "/usr/sbin/mediaserverd"), Process("aned", 241, "/usr/libexec/aned")]


def style_transfer_reload() -> Scenario:
    """Every prediction is preceded by a load of its model."""
    return _style_transfer(reload=True)


def style_transfer_fixed() -> Scenario:
    """Each model is loaded once, and the predictions are the same."""
    return _style_transfer(reload=False)


def _style_transfer(reload: bool) -> Scenario:
    """Five styles one after the other, at the pace of the camera."""
    draws = Draws(2022)
    frames = sum(style.frames for style in STYLES)
    loads = _weighted(draws.durations(frames, LOADS_NS, 70), [style.load_weight for style in STYLES], LOADS_NS)
    predictions = _weighted(
        draws.durations(frames, PREDICTIONS_NS, 45), [style.prediction_weight for style in STYLES], PREDICTIONS_NS
    )
    scenario = Scenario(
        _APP, duration_ns=16_481_204_125, processes=_OTHERS, launched=False, end_reason="User pressed Stop"
    )
    code = Code(scenario)
    apply = [app_method("StyleCam", "StyleView", "apply", line) for line in (_LOAD_LINE, _PREDICT_LINE)]
    now = 612_480_250
    number = 0
    for style in STYLES:
        model = Model(style.model)
        for frame in range(style.frames):
            start = on_clock(now + draws.integer(0, 400_000))
            if reload or frame == 0:
                loaded = scenario.load(model, start, loads[number])
                code.caller = (apply[0], _CAMERA)
                catch_load(code, start, loaded)
                start = loaded + draws.around(60_000, 200)
            _one_frame(draws, scenario.predict(model, start, predictions[number]))
            code.caller = (apply[1], _CAMERA)
            steps = [neural_engine(1), gpu(1)] if style.model == "Watercolor" else [neural_engine(1)]
            code.predict(start, predictions[number], steps)
            now += _FRAME_NS
            number += 1
        now += _SWITCH_NS
    draw_phone_screen(draws, scenario, every_ns=420_000_000, length_ns=610_000)
    draw_interface(draws, code)
    return scenario


def _weighted(durations: list[int], weights: list[int], total_ns: int) -> list[int]:
    """Durations scaled by the weight of their style and back to the total."""
    of_frame = [weight for style, weight in zip(STYLES, weights, strict=True) for _ in range(style.frames)]
    raw = [duration * weight for duration, weight in zip(durations, of_frame, strict=True)]
    return [on_clock(value * total_ns // sum(raw) + 62) for value in raw]


def _one_frame(draws: Draws, prediction: Prediction) -> None:
    """What happens inside a prediction. Watercolor runs on the Neural Engine first and then on the GPU."""
    if prediction.row.model.base == "Watercolor":
        _neural_engine_then_gpu(draws, prediction)
        return
    length = prediction.row.duration_ns
    copy = draws.around(48_000, 120)
    prediction.event("Input Copy", 21_000, copy)
    start, end = share(length, 60), share(length, 985)
    prediction.event("Neural Engine Request", start, end - start)
    lead = draws.around(190_000, 90)
    prediction.neural_engine(start + lead, end - start - lead - draws.around(110_000, 120))


def _neural_engine_then_gpu(draws: Draws, prediction: Prediction) -> None:
    """The steps at the shares of the prediction that its Instruments screen shows."""
    length = prediction.row.duration_ns
    prediction.event("Input Validation", 4_000, draws.around(9_500, 150))
    prediction.event("Input Copy", 21_000, draws.around(48_000, 120))
    prediction.event("Neural Engine Request", share(length, 56), share(length, 486))
    prediction.event("Prepare GPU Request", share(length, 544), share(length, 53))
    prediction.event("GPU Request", share(length, 584), share(length, 374))
    prediction.event("Output Transformation", share(length, 972), draws.around(46_000, 120))
    begin = share(length, 83) + draws.integer(0, 400) * 125
    prediction.neural_engine(begin, share(length, 514) - begin)
    prediction.gpu(share(length, 625), share(length, 319), operation=2, buffers=2)
