/// How long the machine runs none of the process, measured beside what a check measures: a task sleeps for a millisecond again and
/// again, and notes how much longer that takes.
enum StallMeter {
    /// Runs `body`, and measures meanwhile.
    ///
    /// - Returns: What `body` returned, and the longest stall.
    static func measure<Value>(_ body: () async throws -> Value) async throws -> (Value, stall: Duration) {
        let meter = Task {
            var worst = Duration.zero
            while !Task.isCancelled {
                let began = ContinuousClock.now
                try? await Task.sleep(for: .milliseconds(1))
                worst = max(worst, .now - began - .milliseconds(1))
            }
            return worst
        }
        defer { meter.cancel() }
        let value = try await body()
        meter.cancel()
        return (value, await meter.value)
    }
}
