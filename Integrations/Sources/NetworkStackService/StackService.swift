public import NetworkStack
public import ServiceLifecycle

/// Drains a stack when its service group shuts down.
///
///     let group = ServiceGroup(
///         services: [StackService(stack), server],
///         gracefulShutdownSignals: [.sigterm],
///         logger: logger
///     )
///     try await group.run()
///
/// A group shuts its services down one after the other, the last first. List the stack before the services that use it: they then
/// finish their work before the stack refuses fetches.
public struct StackService<Stack: HTTPNetworkStack>: Service {
    private let stack: Stack
    private let grace: Duration

    /// Makes a service.
    ///
    /// - Parameters:
    ///   - stack: The stack. It is retained.
    ///   - grace: How long running fetches may go on after the shutdown has begun. Fetches that have not ended then fail with
    ///     `shutDown`. Zero or less means no wait.
    public init(_ stack: Stack, drainsFor grace: Duration = .seconds(30)) {
        (self.stack, self.grace) = (stack, grace)
    }

    /// Waits until the group shuts down, then refuses new fetches, and returns when the running ones have ended and the stack's
    /// resources are released. If the task is cancelled, running fetches fail at once.
    public func run() async {
        // Cancelling the task also ends this wait, with an error, and the one for running fetches.
        try? await gracefulShutdown()
        await stack.shutdown(after: grace)
    }
}

extension StackService: CustomStringConvertible {
    /// The type of the stack, for the group's log.
    public var description: String { "StackService(\(Stack.self))" }
}
