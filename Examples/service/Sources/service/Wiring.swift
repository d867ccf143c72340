import CoreMetrics
import CurlStack
import Logging
import NetworkStack
import NetworkStackLogging
import NetworkStackMetrics
import NetworkStackService
import NetworkStackTracing
import ServiceLifecycle
import Tracing

/// Runs the reporter on an observed stack until the process is asked to end.
func serve(_ server: String, _ logger: Logger, _ metrics: any MetricsFactory, _ tracer: any Tracer) async throws {
    var configuration = Network.Configuration()
    configuration.interceptors = [HTTPRetryPolicy.maxRetries(2)]
    configuration.listeners = [LoggingListener(logger), MetricsListener(factory: metrics)]
    let stack = try Network.CurlNetworkStack(configuration: configuration).traced(by: tracer)
    let reporter = Reporter(stack: stack, server: server, tracer: tracer)
    // The last is shut down first.
    let group = ServiceGroup(
        services: [StackService(stack, drainsFor: .seconds(3)), reporter],
        gracefulShutdownSignals: [.sigterm],
        logger: logger
    )
    try await group.run()
    await reporter.finish()
}
