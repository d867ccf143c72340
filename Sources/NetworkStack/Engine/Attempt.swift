/// One try of a fetch: its request is made afresh, and interceptors get its identifier.
struct Attempt: Sendable {
    /// Unlike that of any other attempt of the engine; 0 without interceptors.
    let identifier: Int
    /// What the fetch has been through before; and, where the attempt is voted on, whether its request may have arrived.
    var retryState: Retry.State

    /// Which of the fetch's attempts it is, from 1 on.
    var number: Int { retryState.attemptCount }
}
