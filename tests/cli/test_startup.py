"""Processes of the command line leave out what would only delay them."""

from __future__ import annotations

import subprocess
import sys

import pytest

END = """
import atexit, os, sys, threading, time
from tracekit.cli import dispatch, main

class Held:
    def __del__(self, write=os.write):
        write(2, b"freed")

def command(arguments):
    atexit.register(print, "handler")
    threading.Thread(target=lambda: (time.sleep(0.2), print("thread"))).start()
    return 3

held, dispatch.main = Held(), command
sys.setprofile(WATCH)
main.run()
"""
LIGHTENED = "from tracekit.cli.process import lighten; lighten(); lighten()\n"
CLASSES = """
import copy, dataclasses, pickle
from typing import ClassVar
from dataclasses import dataclass, field

@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: list[int] = field(default_factory=list, compare=False)

@dataclass(frozen=True, slots=True, order=True)
class Named(Point):
    name: str = ""

@dataclass
class Open:
    inner: object

@dataclass(kw_only=True)
class Keyed:
    instance: int
    name: int

class Inherited(Named):
    pass

class Own(Named):
    def __init__(self):
        super().__init__(4, name="own")

@dataclass
class Ends:
    total: int
    seed: dataclasses.InitVar[int] = 3
    other: ClassVar[int] = 5

    def __post_init__(self, seed):
        self.total += seed

@dataclass(frozen=True, kw_only=True)
class Checked:
    least: int = 2

    def __post_init__(self):
        if self.least > 3:
            raise ValueError("least")
"""
BEHAVIOR = f"""{CLASSES}
def refused(change):
    try:
        change()
    except dataclasses.FrozenInstanceError as error:
        return str(error)

one, other = Named(1, [2], "a"), Named(1, [3], "b")
cycle = Open(None)
cycle.inner = cycle
for times in range(50):
    print(one, Point(4), cycle)
    print(one == other, one == Named(1, name="a"), one < other, one >= other, Point(1) == one, Open(1) == Open(1))
    print(hash(one) == hash(Named(1, name="a")), len({{Point(1), Point(1, [5])}}), Open.__hash__)
    print(refused(lambda: setattr(one, "name", "c")), refused(lambda: delattr(one, "x")), one.name)
    print(copy.deepcopy(one), pickle.loads(pickle.dumps(one)), dataclasses.replace(one, name="d"))
    print(Named.__eq__.__qualname__, Named.__lt__.__name__)
    print(Keyed(instance=1, name=2), Inherited(3, name="e"), Own(), Ends(1), Ends(1, seed=2), Checked())
    point = Point(times)
    point.y.append(times)
    print(point, Point(y=[2], x=1), Point(1, (3,)), Point(1).y is Point(1).y)
    for wrong in (
        lambda: Keyed(4), lambda: Point(), lambda: Point(1, x=2), lambda: Point(1, z=2), lambda: Point(1, 2, 3),
        lambda: Checked(least=4), lambda: Open(),
    ):
        try:
            wrong()
        except (TypeError, ValueError) as error:
            print(type(error), error)
"""
COMPILED = f"""{CLASSES}
import builtins
compiled = []
run, builtins.exec = exec, lambda text, *scopes: compiled.append(text) or run(text, *scopes)

@dataclass(frozen=True, slots=True)
class Made:
    x: int

made = len(compiled)
Made(1) == Made(2), Made(1) == Made(3), repr(Made(1)), repr(Made(1))
few = len(compiled)
[Made(number) for number in range(100)]
print(made, few - made, len(compiled) - made)
"""


def output(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_data_classes_behave_as_they_do_elsewhere() -> None:
    expected = output(BEHAVIOR)
    assert "FrozenInstanceError" not in expected
    assert "cannot assign to field 'name' cannot delete field 'x' a" in expected
    assert output(LIGHTENED + BEHAVIOR) == expected


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="Python 3.13 compiles all methods of a data class at once")
def test_methods_of_data_classes_are_compiled_when_they_are_called_and_once() -> None:
    assert output(COMPILED).split() == ["6", "0", "0"]
    assert output(LIGHTENED + COMPILED).split() == ["0", "2", "3"]


@pytest.mark.parametrize(("watch", "rest"), [("None", ""), ("lambda *_: None", "freed")])
def test_a_process_ends_at_once_when_everybody_is_done_but_where_a_profiler_watches(watch: str, rest: str) -> None:
    code = END.replace("WATCH", watch)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (3, "thread\nhandler\n", rest)
