/// The gauges of a stack at intervals.
struct GaugeSequence: AsyncSequence, AsyncIteratorProtocol, Sendable {
    let interval: Duration
    let measure: @Sendable () async -> Network.Gauges
    var isFirst = true

    func makeAsyncIterator() -> Self { self }

    mutating func next(isolation actor: isolated (any Actor)?) async -> Network.Gauges? {
        if !exchange(&isFirst, with: false) { try? await Task.sleep(for: interval.bounded) }
        return Task.isCancelled ? nil : await measure()
    }
}
