// Uses a small model in a known way, so that a recording of it has a known problem:
// planted MODEL.mlmodelc MODE LOADS PREDICTIONS
import CoreML
import Foundation

@main
struct Planted {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count == 5, let loads = Int(words[3]), let predictions = Int(words[4]) else {
            fatalError("planted MODEL.mlmodelc MODE LOADS PREDICTIONS")
        }
        let (url, mode) = (URL(fileURLWithPath: words[1]), words[2])
        try await Task.sleep(nanoseconds: 2_000_000_000)
        if mode == "concurrent" {
            try await predictTogether(load(url), predictions / 8)
        } else {
            for _ in 0..<loads { try predict(load(url), predictions / loads) }
        }
        try await Task.sleep(nanoseconds: 1_000_000_000)
    }

    static func load(_ url: URL) throws -> MLModel {
        try MLModel(contentsOf: url, configuration: MLModelConfiguration())
    }

    // A new array each time, as in apps that fill one for each frame.
    static func input(of model: MLModel) throws -> MLFeatureProvider {
        let constraint = model.modelDescription.inputDescriptionsByName["x"]!.multiArrayConstraint!
        let array = try MLMultiArray(shape: constraint.shape, dataType: constraint.dataType)
        return try MLDictionaryFeatureProvider(dictionary: ["x": array])
    }

    static func predict(_ model: MLModel, _ count: Int) throws {
        for _ in 0..<count { _ = try model.prediction(from: input(of: model)) }
    }

    // First one after another, which shows how long one takes alone, then seven in flight.
    static func predictTogether(_ model: MLModel, _ count: Int) async throws {
        try predict(model, count)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<7 {
                group.addTask {
                    for _ in 0..<count { _ = try await model.prediction(from: input(of: model)) }
                }
            }
            try await group.waitForAll()
        }
    }
}
