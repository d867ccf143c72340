/// The gauges of a stack at intervals.
struct GaugeSequence: AsyncSequence, Sendable {
    let interval: Duration
    let measure: @Sendable () async -> Network.Gauges

    func makeAsyncIterator() -> Iterator { Iterator(interval: interval, measure: measure) }

    struct Iterator: AsyncIteratorProtocol {
        let interval: Duration
        let measure: @Sendable () async -> Network.Gauges
        private var isFirst = true

        init(interval: Duration, measure: @escaping @Sendable () async -> Network.Gauges) {
            (self.interval, self.measure) = (interval, measure)
        }

        mutating func next(isolation actor: isolated (any Actor)?) async -> Network.Gauges? {
            if !exchange(&isFirst, with: false) { try? await Task.sleep(for: interval) }
            return Task.isCancelled ? nil : await measure()
        }
    }
}
