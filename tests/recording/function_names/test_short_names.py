"""Short names of functions, against the golden names of the reference and names of public recordings."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import given, strategies as st

import tracekit
from tracekit.recording.bundle.symbol_archive import SymbolArchive
from tracekit.recording.function_names import is_core_ml_overlay, short_name

PACKAGE = str(Path(tracekit.__file__).parent)
GOLDEN = {
    "-[MLModel predictionFromFeatures:error:]": "-[MLModel predictionFromFeatures:error:]",
    "+[C m].cold.1": "+[C m]",
    "__44-[C m]_block_invoke": "-[C m] (block)",
    "___44-[C m]_block_invoke_2.cold.1": "-[C m] (block)",
    "_f_block_invoke.12": "f (block)",
    "objc_msgSend$sel:": "objc_msgSend sel:",
    "_objc_msgSend$sel:": "objc_msgSend sel:",
    "DYLD-STUB$$_f": "f (stub)",
    "DYLD-STUB$$__ZNSt3__112__next_primeEm": "std::__next_prime (stub)",
    "<deduplicated_symbol>": "<deduplicated_symbol>",
    "main": "main",
    "MambaASRRunner_main": "MambaASRRunner_main",
    "f.cold.1": "f",
    "__ZN4E5RT3Ops26MpsGraphInferenceOperation11ExecuteSyncERKNS_5ThingE": (
        "E5RT::Ops::MpsGraphInferenceOperation::ExecuteSync"
    ),
    "__ZN8TGAImage14write_tga_fileENSt3__112basic_stringIcNS0_11char_traitsIcEENS0_9allocatorIcEEEEbb": (
        "TGAImage::write_tga_file"
    ),
    "__ZNSt3__111make_uniqueB8ne190102INS_6vectorIiEEJLi3EEEENS_10unique_ptrIT_EEv": "std::make_unique",
    "__ZN3MIL17IRValueVectorDataIiED2Ev": "MIL::IRValueVectorData::~IRValueVectorData",
    "__ZN10HeapRegionC1Ej": "HeapRegion::HeapRegion",
    "__ZNK3FooeqERKS_": "Foo::operator==",
    "__ZZN5dyld45startEPNS_10KernelArgsEENK3$_0clEv": "dyld4::start (lambda)",
    "__ZN12_GLOBAL__N_11fEi": "(anonymous namespace)::f",
    "__ZN1NI1AXplLi1ELi2EEE1fEv": "N::f",
    "__ZZN1A1fEvE1s": "A::f::s",
    "__ZZN1A1fEvEd_N1B1gEv": "A::f::B::g",
    "____ZN5dyld41fEv_block_invoke": "dyld4::f (block)",
    "_$s14MambaASRRunner12runStreaming33_27F6C2839DE4FD767A3C5344F4A4E0A1LL5modelySo7MLModelC_tF": (
        "MambaASRRunner.runStreaming"
    ),
    "_$sSo7MLModelC10contentsOf13configurationABSo0A13ConfigurationC_tKcfC": "MLModel.init",
    "_$s3App9ViewModelC04loadB0yyF": "App.ViewModel.loadView",
    "_$sSS10FoundationE17homeDirectoryPathSSyFZ": "String.homeDirectoryPath",
    "_$s10Foundation4DataV8capacityACSi_tcfC": "Foundation.Data.init",
    "_$s3App4readyyF": "App.read",
    "_$s3App3VecV1poiyA2C_ACtFZ": "App.Vec.+",
    "_$s3App3VecV2leoiySbAC_ACtFZ": "App.Vec.<=",
    "_$s3App3VecVySfSicig": "App.Vec.subscript",
    "_$s3App5outeryyF5innerL_yyF": "App.outer",
    "_$s3App4ViewC4bodySivgySiXEfU_": "App.View.body",
    "_$s3App4ViewCfD": "App.View.deinit",
    "_$s3App5ModelCAA8LoadableA2aDP4loadyyFTW": "App.Loadable.load",
    "_$s3App11ContentViewV7SwiftUI0C0AadEP4body4BodyQzvgTW": "SwiftUI.View.body",
    "_$s7SwiftUI16ViewRendererHostPAAE11renderAsyncyyF": "SwiftUI.ViewRendererHost.renderAsync",
    "_$sSa6appendyyxnFSf_Tg5": "Array.append",
    "_$ss23_ContiguousArrayStorageCfD": "_ContiguousArrayStorage.deinit",
    "_$sSo14DisplayLinkRefaSdIegyy_ABSdIeyByy_TR": "reabstraction thunk",
    # Samples A and B of RFC 3492.
    "_$s8mangling0022egbpdajGbuEbxfgehfvwxnyyF": "mangling.ليهمابتكلموشعربي؟",
    "_$s8mangling0024ihqwcrbEcvIaIdqgAFGpqjyeyyF": "mangling.他们为什么不说中文",
}
PRINTED = {
    "E5RT::Ops::MpsGraphInferenceOperation::ExecuteSync(E5RT::Thing const&)": (
        "E5RT::Ops::MpsGraphInferenceOperation::ExecuteSync"
    ),
    "std::__1::vector<int, std::__1::allocator<int>>::push_back[abi:ne190102](int&&)": "std::vector::push_back",
    "dyld4::start(dyld4::KernelArgs*, void*)::$_0::operator()() const": "dyld4::start (lambda)",
    "invocation function for block in dyld4::f()": "dyld4::f (block)",
    "(anonymous namespace)::f(int)": "(anonymous namespace)::f",
    "Foo::operator==(Foo const&) const": "Foo::operator==",
    "void foo<int>(int)": "foo",
    "AllocateHeap(unsigned long, MEMFLAGS)": "AllocateHeap",
    "MambaASRRunner.(runStreaming in _27F6C2839DE4FD767A3C5344F4A4E0A1)(model: __C.MLModel) -> ()": (
        "MambaASRRunner.runStreaming"
    ),
    "MambaASRRunner.runStreaming(model: __C.MLModel) throws -> ()": "MambaASRRunner.runStreaming",
    "__C.MLModel.__allocating_init(contentsOf: Foundation.URL) throws -> __C.MLModel": "MLModel.init",
    "MLModel.init(contentsOf:configuration:)": "MLModel.init",
    "closure #1 in App.View.body.getter : some": "App.View.body",
    "static App.Loader.load(_: Swift.Int) -> ()": "App.Loader.load",
    "App.read() -> ()": "App.read",
    "App.modify(x: Swift.Int) async throws -> ()": "App.modify",
    "App.(read in _27F6C2839DE4FD767A3C5344F4A4E0A1)() -> ()": "App.read",
    "App.View.read.getter : Swift.Int": "App.View.read",
    "App.View.value.read : Swift.Int": "App.View.value",
    "static App.Vec.+ infix(App.Vec, App.Vec) -> App.Vec": "App.Vec.+",
    "static App.Vec.<= infix(App.Vec, App.Vec) -> Swift.Bool": "App.Vec.<=",
    "App.-> infix(A, B) -> ()": "App.->",
    "App.Vec.- prefix(App.Vec) -> App.Vec": "App.Vec.-",
    "App.Vec.subscript.getter : (Swift.Int) -> Swift.Float": "App.Vec.subscript",
    "App.pair(of: (Swift.Int, Swift.Int)) -> (first: Swift.Int, (Swift.Int) -> ())": "App.pair",
    "App.f(_: (Swift.Int) -> Swift.String) -> (Swift.Int) -> ()": "App.f",
    "inner #1 (x: Swift.Int) -> Swift.Int in App.outer() -> ()": "App.outer",
    "closure #2 (App.A) async throws -> Swift.String in closure #1 () -> () in App.View.body.getter : some": (
        "App.View.body"
    ),
    "generic specialization <Swift.Float> of closure #1 (A) throws -> A1 in Swift.Array.map<A>(A) -> A1": "Array.map",
    "App.View.__deallocating_deinit": "App.View.deinit",
    "reabstraction thunk helper from @escaping @callee_guaranteed () -> () to @escaping () -> ()": (
        "reabstraction thunk"
    ),
    "thunk for @escaping @callee_guaranteed () -> ()": "reabstraction thunk",
    "protocol witness for App.Loadable.load() -> () in conformance App.Model : App.Loadable in App": (
        "App.Loadable.load"
    ),
    "Swift runtime failure: arithmetic overflow": "Swift runtime failure: arithmetic overflow",
}


@pytest.mark.parametrize(("name", "short"), [*GOLDEN.items(), *PRINTED.items()])
def test_golden_names(name, short):
    assert short_name(name) == short


@given(st.text(max_size=60) | st.from_regex(r"_{1,4}Z[NKLZSI0-9A-Za-z_]{0,40}|_\$s[0-9A-Za-z_]{0,40}", fullmatch=True))
def test_any_text_has_a_name(name):
    assert isinstance(short_name(name), str)
    assert bool(short_name(name)) == bool(name) or not name.strip("_. ")


@pytest.mark.parametrize(
    ("head", "repeated", "tail"),
    [
        ("", "_", "_block_invoke!"),
        ("", "_block_invoke", "!"),
        ("", ".1", "x"),
        ("", ".1", ""),
        ("__ZN", "9", ""),
        ("__ZN", "1a", ""),
        ("__ZN1aI", "1b", "E"),
        ("", "__Z", ""),
        ("__ZZ", "Z", ""),
        ("_$s", "9", ""),
        ("_$s", "1a", "fC"),
        ("_$s1a", "1bP", "FTW"),
        ("", "f<", ""),
        ("", "a::", "f()"),
        ("", "generic specialization <", ""),
        ("", "closure #1 in ", "f"),
    ],
)
def test_the_work_for_a_name_grows_with_its_length(head, repeated, tail):
    short, long = (head + repeated * (length // len(repeated)) + tail for length in (2_000, 4_000))
    assert steps_of(long) <= 2.1 * steps_of(short)


def steps_of(name: str) -> int:
    """Lines of the product that run for a name. What other tests left may be finalized meanwhile."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Callable[..., object] | None:
        nonlocal count
        count += event == "line"
        return trace if frame.f_code.co_filename.startswith(PACKAGE) else None

    short_name.cache_clear()
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        short_name(name)
        is_core_ml_overlay(name)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("unit", ["_", "_block_invoke", ".1", "__Z", "f<"])
def test_names_longer_than_any_are_cut(unit):
    assert len(short_name(unit * (60_000 // len(unit)))) == 200


@pytest.mark.parametrize(
    ("name", "is_overlay"),
    [
        ("_$sSo7MLModelC10contentsOf13configurationABSo0A13ConfigurationC_tKcfC", True),
        ("_$sSo7MLModelC6CoreMLE10prediction4fromyy_tF", True),
        ("_$sSo7MLModelC3AppE8loadFastyyF", False),
        ("_$s3App4LoadyyF", False),
        ("_$sSo6UIViewC5frameyyF", False),
        ("MLModel.init(contentsOf:configuration:)", True),
        ("App.MLModel.f()", False),
    ],
)
def test_the_swift_face_of_core_ml_is_told_from_code_of_the_app(name, is_overlay):
    assert is_core_ml_overlay(name) is is_overlay


def symbols(corpus: Path) -> list[str]:
    archives = (SymbolArchive(path.read_bytes()) for path in corpus.glob("bundles/*.trace/symbols/stores/*"))
    names = {
        archive.names(call)[:2] for archive in archives for call in range(len(archive._symbols) + len(archive._inlined))
    }
    return sorted(display or name for name, display in names)


@pytest.mark.corpus
def test_nearly_all_mangled_names_of_public_recordings_are_shortened(corpus):
    names = symbols(corpus)
    mangled = [name for name in names if re.match(r"_{1,4}Z[A-Z0-9]", name) or name.startswith("_$s")]
    left = [name for name in mangled if "_Z" in short_name(name) or "$s" in short_name(name)]
    assert len(mangled) > 4_500
    assert len(left) <= 3, left
    short = {name: short_name(name).split("operator")[0] for name in mangled if name not in left}
    assert not [each for each in short.values() if re.search(r"[<>]", each)]
    # The length of an identifier stands before it. `UTF16cmap` looks like one that was left in, and is a name.
    numbered = [(name, part) for name, each in short.items() for part in re.findall(r"\w*\d{2,}[a-z]{3}\w*", each)]
    assert not [part for name, part in numbered if f"{len(part)}{part}" not in name]


@pytest.mark.corpus
@pytest.mark.skipif(importlib.util.find_spec("pydemumble") is None, reason="pydemumble is not installed")
def test_short_names_are_those_of_a_full_demangler(corpus):
    import pydemumble

    mangled = [name for name in symbols(corpus) if re.match(r"_{1,4}Z[A-Z0-9]", name)]
    swift = [name for name in symbols(corpus) if name.startswith("_$s")]
    for names in (mangled, swift):
        same = sum(short_name(name) == short_name(pydemumble.demangle(name[1:])) for name in names)
        assert same >= 0.95 * len(names)
