"""A sharpening filter for photos, as in WWDC22 session 10027: one model with two interfaces.

The 8-bit version takes and gives grayscale images of 8-bit pixels, while the model computes in Float16, so that every
call converts and copies both images. The Float16 version takes and gives half-float images in shared memory. The shares
follow a public measurement of a larger model: 26 of 89 ms in copies, 62 ms without them.
"""

from __future__ import annotations

from collections.abc import Callable

from support.samples.common import catch_load, draw_interface, draw_phone_screen, share
from support.scenarios import COPY_BYTES, app_method
from tracekit.testing import stacks
from tracekit.testing.code import SAMPLE_NS, Code
from tracekit.testing.machines import BACKBOARD, Process
from tracekit.testing.rng import Draws
from tracekit.testing.rows import Model
from tracekit.testing.scenario import Prediction, Scenario

_APP = Process("Sharpen", 3391, "/private/var/containers/Bundle/Application/Sharpen.app/Sharpen")
_PHOTOS = 140
_LIBRARY = app_method("Sharpen", "PhotoLibrary", "sharpenAll", 64)
_CALLERS = (app_method("Sharpen", "PhotoFilter", "sharpen", 31), _LIBRARY)
_LOADERS = (app_method("Sharpen", "PhotoFilter", "prepare", 18), _LIBRARY)
_LENGTH_8BIT_NS = 12_400_000
_LENGTH_FLOAT16_NS = 8_640_000
"""62/89 of the other."""


def sharpen_8bit() -> Scenario:
    """About 29 % of each prediction is spent copying and converting images."""
    return _sharpen(Draws(8), _LENGTH_8BIT_NS, _converting)


def sharpen_float16() -> Scenario:
    """The same app with half-float images: what is left of the Data lane takes microseconds."""
    return _sharpen(Draws(16), _LENGTH_FLOAT16_NS, _plain)


def _sharpen(draws: Draws, length_ns: int, add_steps: Callable[[Draws, Prediction], None]) -> Scenario:
    """The app with predictions of about this length, of these steps."""
    code, starts = _photos(draws)
    for start in starts:
        prediction = code.scenario.predict(Model("SharpenFilter"), start, draws.around(length_ns, 40))
        add_steps(draws, prediction)
        _catch(code, prediction)
    draw_interface(draws, code)
    return code.scenario


def _photos(draws: Draws) -> tuple[Code, list[int]]:
    """The app with its code, its one load, and the times at which it sharpens a photo."""
    scenario = Scenario(
        _APP,
        duration_ns=5_204_630_250,
        processes=[BACKBOARD, Process("aned", 241, "/usr/libexec/aned")],
        time_limit="10 seconds",
    )
    code = Code(scenario, _LOADERS)
    now = scenario.load(Model("SharpenFilter"), 403_118_500, draws.around(96_000_000, 50))
    catch_load(code, 403_118_500, now)
    code.caller = _CALLERS
    starts = []
    for _ in range(_PHOTOS):
        now += draws.around(31_000_000, 60)
        starts.append(now)
    draw_phone_screen(draws, scenario, every_ns=66_000_000, length_ns=480_000)
    return code, starts


def _catch(code: Code, prediction: Prediction) -> None:
    """Call stacks of a prediction: inputs are bound, buffers of the Neural Engine filled, and the thread waits for it
    until it ends."""
    begin = prediction.row.start_ns
    code.runs(begin, SAMPLE_NS, stacks.BIND, *stacks.PREDICT)
    for row in code.scenario.coreml[prediction.index + 1 :]:
        if row.label == "Neural Engine - Data Copy":
            code.runs(row.start_ns, row.duration_ns, COPY_BYTES, stacks.EXECUTE, *stacks.PREDICT)
    code.runs(begin + prediction.row.duration_ns - SAMPLE_NS, SAMPLE_NS, stacks.EXECUTE, *stacks.PREDICT)


def _converting(draws: Draws, prediction: Prediction) -> None:
    """Steps of the 8-bit version: the image is copied and cast, and the host fills the Neural Engine's buffers."""
    length = prediction.row.duration_ns
    prediction.event("Input Validation", 3_000, draws.around(8_000, 150))
    prediction.event("Input Copy", 14_000, _about(draws, length, 34))
    prediction.event("Data Cast", share(length, 45), _about(draws, length, 20))
    begin, end = share(length, 75), share(length, 950)
    prediction.event("Neural Engine Request", begin, end - begin)
    prediction.event("Neural Engine - Data Copy", begin + 12_500, _about(draws, length, 108))
    prediction.event("Neural Engine - Data Copy", share(length, 828), _about(draws, length, 107))
    prediction.event("Output Transformation", share(length, 960), _about(draws, length, 22))
    start = share(length, 205)
    label = "SharpenFilter_main__Op1_AneInference Prediction"
    prediction.neural_engine(start, share(length, 820) - start - draws.around(60_000, 150), label)


def _plain(draws: Draws, prediction: Prediction) -> None:
    """Steps of the Float16 version."""
    length = prediction.row.duration_ns
    prediction.event("Input Validation", 3_000, draws.around(7_500, 150))
    prediction.event("Input Copy", 13_000, draws.around(1_750, 200))
    prediction.event("Output Transformation", length - 9_000, draws.around(2_500, 150))
    begin, end = 24_000, share(length, 990)
    prediction.event("Neural Engine Request", begin, end - begin)
    lead = draws.around(320_000, 80)
    prediction.neural_engine(begin + lead, end - begin - lead - draws.around(140_000, 120))


def _about(draws: Draws, length_ns: int, permille: int) -> int:
    """About that share of a prediction."""
    return draws.around(length_ns * permille // 1_000, 25)
