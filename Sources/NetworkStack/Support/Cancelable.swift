/// An operation that can be cancelled.
///
/// Every `fetch` returns one. Cancelling is safe from any thread, at any time, any number of times. It has no effect on an
/// operation that has ended.
public protocol Cancelable: AnyObject, Sendable {
    /// Cancels the operation. Returns at once; the operation's completion reports the result.
    func cancel()
}

/// A cancelable without effect, for an operation that has already ended.
public final class EmptyCancelable: Cancelable {
    /// Makes a cancelable.
    public init() {}

    /// Does nothing.
    public func cancel() {}
}

/// Several cancelables that are cancelled together.
///
/// Adding to a bag that was cancelled cancels the new member at once, so there is no race between the two.
public final class CancelableBag: Cancelable {
    private let members = Lock(CancelableMembers())

    /// Makes an empty bag.
    public init() {}

    /// Whether `cancel` was called.
    public var isCancelled: Bool { members.withLock { $0.isCancelled } }

    /// Adds a member, or cancels it at once if the bag was cancelled.
    ///
    /// - Parameter member: The operation to cancel with the others.
    public func add(_ member: any Cancelable) {
        if !members.withLock({ $0.add(member) }) { member.cancel() }
    }

    /// Cancels every member once, and releases them.
    public func cancel() {
        for member in members.withLock({ $0.cancel() }) { member.cancel() }
    }

    /// Adds a member, if there is one.
    ///
    /// - Parameters:
    ///   - bag: The bag.
    ///   - member: The operation to cancel with the others; `nil` has no effect.
    public static func += (bag: CancelableBag, member: (any Cancelable)?) {
        if let member { bag.add(member) }
    }
}

/// The members of a bag, for code with its own lock. The caller cancels or releases the returned members after it has released
/// that lock.
struct CancelableMembers {
    private var members: [any Cancelable] = []
    private(set) var isCancelled = false
    private var isClosed = false

    /// Adds a member. Returns `false` if the caller has to cancel it at once.
    mutating func add(_ member: any Cancelable) -> Bool {
        if !isCancelled, !isClosed { members.append(member) }
        return !isCancelled
    }

    /// Removes the members and returns them; the caller cancels them.
    mutating func cancel() -> [any Cancelable] {
        isCancelled = true
        return take()
    }

    /// Removes the members and returns them; the caller releases them without a cancel, because their operations have ended.
    mutating func close() -> [any Cancelable] {
        isClosed = true
        return take()
    }

    private mutating func take() -> [any Cancelable] {
        exchange(&members, with: [])
    }
}

extension Result where Success: Sendable {
    /// The result of an asynchronous operation.
    init(of work: () async throws(Failure) -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}

/// A task as a cancelable.
final class TaskCancelable: Cancelable {
    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) { self.task = task }

    func cancel() { task.cancel() }

    /// Runs an asynchronous operation in a separate task and passes its result on.
    ///
    /// - Returns: Cancels the task, and what follows it.
    static func run<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value,
        then handler: @escaping @Sendable (Result<Value, any Error>) -> any Cancelable
    ) -> any Cancelable {
        let bag = CancelableBag()
        let task = Task {
            bag += handler(await Result(of: operation))
        }
        bag += TaskCancelable(task)
        return bag
    }
}
