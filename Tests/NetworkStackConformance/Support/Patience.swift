/// How long a check waits for what has to happen.
package enum Patience {
    /// The longest wait of a check in this task, or `nil` if each wait has its usual limit. Where a check is expected to fail, its
    /// waits need not be as long as a busy machine needs to succeed.
    @TaskLocal package static var longest: Duration?

    /// Returns the limit of a wait.
    static func limit(_ usual: Duration) -> Duration { min(usual, longest ?? usual) }
}
