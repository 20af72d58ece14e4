"""Apps whose signposts say what ran: a language model on Core AI, speech to text with WhisperKit, and a camera.

No recording of the first two is public: names and messages are those of their source."""

from __future__ import annotations

from support.samples.common import catch_load, draw_phone_screen
from support.scenarios import app_method
from tracekit.testing.code import SAMPLE_NS, Code
from tracekit.testing.machines import BACKBOARD, MAC, NEW_IPHONE, NEW_MAC, WINDOW_SERVER, Process, Thread, main_thread
from tracekit.testing.rng import Draws, on_clock
from tracekit.testing.rows import LoggedRow, Model
from tracekit.testing.scenario import Scenario
from tracekit.testing.stacks import BIND, EXECUTE, PREDICT

_CHAT = Process("LocalChat", 8123, "/Applications/LocalChat.app/Contents/MacOS/LocalChat")
_CORE_AI = "com.apple.coreai-models.performance"
REQUESTS = ((212, 48), (260, 36), (655, 60))
"""Tokens of the prompt and of the answer of each request."""


def local_chat() -> Scenario:
    """Three requests to a language model on Core AI, which is loaded and warmed up before the first. The last is still
    being answered when the recording ends."""
    draws = Draws(41)
    scenario = Scenario(
        _CHAT,
        duration_ns=5_900_000_000,
        xcode_version="27.2",
        device=NEW_MAC,
        host=None,
        processes=[WINDOW_SERVER],
        event_types=False,
        emptied={"coreml-os-signpost"},
    )
    log = _Log(scenario, _CORE_AI, "performance", Thread(main_thread(_CHAT).tid + 2, _CHAT))
    now = log.add(180_000_000, draws.around(1_240_000_000, 30), "ModelLoad", "engine=main")
    now = log.add(now, draws.around(96_000_000, 50), "TokenizerLoad")
    now = log.add(now, draws.around(310_000_000, 40), "Warmup", "engine=main, tokens=8") + 250_000_000
    for number, (prompt, answer) in enumerate(REQUESTS):
        start = now
        now = log.add(now, draws.around(2_100_000, 80), "Tokenization", f"tokens={prompt}")
        now = log.add(now, draws.around(prompt * 640_000, 30), "Prompt", f"tokens={prompt}, strategy=Vanilla")
        for step in range(answer):
            begin = now
            now = log.add(now, draws.around(14_800_000, 40), "LogitsInference", f"tokens=1, step={step}, engine=main")
            now = log.add(now, draws.around(420_000, 90), "Sample", f"step={step}")
            if step:
                log.add(begin, now - begin, "Extend", f"step={step}, strategy=Vanilla")
            now = log.add(now, draws.around(160_000, 90), "Decode", f"step={step}")
            log.add(now, 0, "TokenGeneration", f'Token {step}: "word{step}"', form="event")
        said = f"Starting inference: {prompt} prompt tokens, max 256 generation tokens"
        form = "open" if number == len(REQUESTS) - 1 else "interval"
        log.add(start, now - start, "Inference", said, end_message=f"Generated {answer} tokens", form=form)
        log.add(now, 0, "MemoryUsage", f"after generation: {1_180 + 6 * number}.5 MB", form="event")
        now += 400_000_000
    return scenario


_DICTATION = Process("Dictation", 4471, "/private/var/containers/Bundle/Application/Dictation.app/Dictation")
CLIPS, STEPS = 24, 9
"""Pieces of sound, and steps of the decoder for each."""


def dictation() -> Scenario:
    """WhisperKit transcribes pieces of sound: features, one run of the encoder, then the decoder token by token."""
    draws = Draws(12)
    scenario = Scenario(_DICTATION, duration_ns=15_900_000_000, processes=[BACKBOARD], launched=False)
    scenario.xcode_version, scenario.device, scenario.host = "27.2", NEW_IPHONE, NEW_MAC
    scenario.end_reason, scenario.event_types = "User pressed Stop", False
    models = [Model(name) for name in ("MelSpectrogram", "AudioEncoder", "TextDecoder")]
    now = 240_000_000
    for model in models:
        now = scenario.load(model, now, draws.around(96_000_000, 60)) + 4_000_000
    logs = {name: _Log(scenario, "com.argmax.whisperkit", name) for name in ("AudioEncoding", "FeatureExtractor")}
    task = _Log(scenario, "com.argmax.whisperkit", "TranscribeTask")
    now += 180_000_000
    for _ in range(CLIPS):
        start = now
        now = _predict(draws, scenario, models[0], now + 200_000, 9_100_000)
        logs["FeatureExtractor"].add(start, now + 150_000 - start, "ExtractAudioFeatures")
        encoding = now + 300_000
        now = _predict(draws, scenario, models[1], encoding + 100_000, 118_000_000)
        logs["AudioEncoding"].add(encoding, now + 100_000 - encoding, "EncodeAudio")
        decoding = now + 400_000
        now = decoding
        for _ in range(STEPS):
            now = _predict(draws, scenario, models[2], now + 90_000, 11_400_000)
        task.add(decoding, now + 120_000 - decoding, "Decode")
        task.add(start, now + 500_000 - start, "TranscribeAudio")
        now += draws.around(390_000_000, 60)
    draw_phone_screen(draws, scenario, every_ns=110_000_000, length_ns=450_000)
    return scenario


def _predict(draws: Draws, scenario: Scenario, model: Model, start_ns: int, length_ns: int) -> int:
    """A prediction on the Neural Engine. Returns its end."""
    prediction = scenario.predict(model, on_clock(start_ns), draws.around(length_ns, 25))
    length = prediction.row.duration_ns
    prediction.event("Input Copy", 15_000, draws.around(30_000, 150))
    prediction.neural_engine(draws.around(240_000, 60), length - 420_000)
    return prediction.row.end_ns


_CAMERA = Process("FrameCam", 2930, "/private/var/containers/Bundle/Application/FrameCam.app/FrameCam")
FRAMES = 90
_RESIZE = app_method("FrameCam", "Frame", "resize", 88)
_PROCESS = app_method("FrameCam", "FrameProcessor", "process", 41)
RESIZE_NS, WAIT_NS, GAP_NS = 8_000_000, 9_000_000, 500_000
"""Of each frame: what the app itself takes, how long it waits for its own work on the GPU, and pauses between."""


def frame_camera() -> Scenario:
    """A camera logs `ProcessFrame` around each frame: it scales the image itself, asks a model, and waits for a filter
    of its own on the GPU. Inside of it, `Resize` is an interval of its own; `Shutter` is a point of interest."""
    draws = Draws(88)
    scenario = Scenario(_CAMERA, duration_ns=4_700_000_000, device=MAC, host=None, processes=[WINDOW_SERVER])
    code = Code(scenario, (_PROCESS,), interface=False)
    worker = Thread(main_thread(_CAMERA).tid + code.thread, _CAMERA)
    log = _Log(scenario, "com.example.framecam", "frames", worker)
    model = Model("SceneClassifier")
    loaded = scenario.load(model, 160_000_000, draws.around(88_000_000, 40))
    catch_load(code, 160_000_000, loaded)
    now = 400_000_000
    for frame in range(FRAMES):
        start, now = now, now + GAP_NS
        resized = now + RESIZE_NS
        code.runs(now, RESIZE_NS, _RESIZE)
        log.add(now, RESIZE_NS, "Resize")
        predicted = _predict(draws, scenario, model, resized + GAP_NS, 12_400_000)
        code.runs(resized + GAP_NS, SAMPLE_NS, BIND, *PREDICT)
        code.runs(predicted - SAMPLE_NS, SAMPLE_NS, EXECUTE, *PREDICT)
        drawn = predicted + WAIT_NS
        scenario.gpu_work(predicted, WAIT_NS, _CAMERA, "Compute", "Filter:Compute Command 0")
        log.add(start, drawn + GAP_NS - start, "ProcessFrame", f"frame {frame}")
        if frame % 30 == 0:
            log.add(start, 0, "Shutter", form="event")
        now = start + 45_000_000
    return scenario


class _Log:
    """The signposts of one subsystem and category."""

    def __init__(self, scenario: Scenario, subsystem: str, category: str, thread: Thread | None = None) -> None:
        self._scenario = scenario
        self._names = (subsystem, category)
        self._thread = thread

    def add(
        self,
        start_ns: int,
        duration_ns: int,
        name: str,
        message: str = "",
        *,
        end_message: str = "",
        form: str = "interval",
    ) -> int:
        """Log something. Returns its end in ns."""
        row = LoggedRow(start_ns, duration_ns, name, *self._names, message, self._thread, end_message, form)
        self._scenario.logged.append(row)
        return start_ns + duration_ns
