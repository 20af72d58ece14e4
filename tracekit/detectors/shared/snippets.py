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
