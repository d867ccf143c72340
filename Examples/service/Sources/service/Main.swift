import Foundation
import InMemoryTracing
import Logging
import MetricsTestKit
import Tracing

/// service URL: sends reports to the server until SIGTERM, and then prints its spans and metrics as JSON.
@main
enum Main {
    static func main() async {
        guard CommandLine.arguments.count == 2 else {
            print("usage: service URL")
            exit(2)
        }
        // In memory, so that they can be printed: a real service has a backend for OpenTelemetry here.
        let (metrics, tracer) = (TestMetrics(), InMemoryTracer())
        var logger = Logger(label: "service") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .debug
        do {
            try await serve(CommandLine.arguments[1], logger, metrics, tracer)
            await waitForConnections(in: metrics)
            try print(String(decoding: JSONEncoder().encode(Telemetry(metrics, tracer)), as: UTF8.self))
        } catch {
            print("The service failed: \(error)")
            exit(1)
        }
    }

    /// Waits until the ends of all connections have been reported, which are the last events of a stack.
    private static func waitForConnections(in metrics: TestMetrics) async {
        let deadline = ContinuousClock.now + .seconds(5)
        let connections = metrics.meters(label: "http.client.open_connections")
        while connections.contains(where: { $0.lastValue != 0 }), .now < deadline {
            try? await Task.sleep(for: .milliseconds(5))
        }
    }
}

/// What was observed.
struct Telemetry: Encodable {
    struct Span: Encodable {
        let name: String
        let id: String
        let parent: String?
        let attributes: [String: String]
        let events: [String]
    }

    struct Metric: Encodable {
        let name: String
        let labels: [String: String]
        /// How many figures a timer or a recorder has, or a meter's last value.
        let value: Double
    }

    let spans: [Span]
    let metrics: [Metric]

    init(_ metrics: TestMetrics, _ tracer: InMemoryTracer) {
        spans = tracer.finishedSpans.map { span in
            var attributes: [String: String] = [:]
            func add(_ name: String, _ value: SpanAttribute) { attributes[name] = "\(value)" }
            span.attributes.forEach(add)
            return Span(
                name: span.operationName,
                id: span.spanID,
                parent: span.parentSpanID,
                attributes: attributes,
                events: span.events.map(\.name)
            )
        }
        func metric(_ name: String, _ dimensions: [(String, String)], _ value: Double) -> Metric {
            Metric(name: name, labels: Dictionary(dimensions) { $1 }, value: value)
        }
        self.metrics =
            metrics.timers.map { metric($0.label, $0.dimensions, Double($0.values.count)) }
            + metrics.recorders.map { metric($0.label, $0.dimensions, Double($0.values.count)) }
            + metrics.meters.map { metric($0.label, $0.dimensions, $0.lastValue ?? 0) }
    }
}
