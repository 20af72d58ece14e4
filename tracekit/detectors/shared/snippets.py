"""Code that the fixes of several detectors show alike."""

OPERATIONS = """```swift
// iOS 17.4, macOS 14.4 or later. The url is that of the compiled model (.mlmodelc).
let plan = try await MLComputePlan.load(contentsOf: url, configuration: configuration)
guard case .program(let program) = plan.modelStructure,
      let main = program.functions["main"] else { return }
for operation in main.block.operations {
    // Constants are not computed and have no usage.
    guard let usage = plan.deviceUsage(for: operation) else { continue }
    // Compare with .gpu if the GPU should do all the work.
    if case .neuralEngine = usage.preferred { continue }
    let output = operation.outputs.first?.name ?? ""
    let weight = plan.estimatedCost(of: operation)?.weight ?? 0
    print(operation.operatorName, output, "share of the work:", weight)
}
```"""
"""Swift that lists the operations of a model that are meant to run elsewhere than on the Neural Engine."""

LOAD_ONCE = """```swift
actor SegmenterProvider {
    static let shared = SegmenterProvider()
    private var loading: Task<MLModel, Error>?

    func model() async throws -> MLModel {
        // Callers during the first load wait for the same task.
        if let loading { return try await loading.value }
        let url = Bundle.main.url(forResource: "Segmenter", withExtension: "mlmodelc")!
        let task = Task {
            try await MLModel.load(contentsOf: url, configuration: .init())
        }
        loading = task
        do { return try await task.value } catch { loading = nil; throw error }
    }
}
```"""
"""Swift that loads a model once, when it is first asked for, and hands the same object to all."""

_QUEUE = """```swift
actor QUEUE {
    private var last: Task<Void, Never>?

    /// Runs one prediction after the other, in the order of the calls.
    func run<Output: Sendable>(
        _ work: @Sendable @escaping () async throws -> Output
    ) async throws -> Output {
        let previous = last
        let task = Task { await previous?.value; return try await work() }
        last = Task { _ = try? await task.value }
        return try await task.value
    }
}
```"""

_PREPARE = """```swift
actor Models {
    private var loading: Task<MLModel, Error>?

    /// Call early: when the screen that uses the model is about to appear.
    func prepare(_ url: URL, _ configuration: MLModelConfiguration) {
        guard loading == nil else { return }
        loading = Task(priority: PRIORITY) {
            try await MLModel.load(contentsOf: url, configuration: configuration)
        }
    }

    func model() async throws -> MLModel? { try await loading?.value }
}
```"""


def one_after_the_other(actor: str) -> str:
    """Swift of an actor of this name that runs one prediction after the other."""
    return _QUEUE.replace("QUEUE", actor)


def load_early(priority: str) -> str:
    """Swift that loads a model at this priority of tasks before it is asked for."""
    return _PREPARE.replace("PRIORITY", priority)
