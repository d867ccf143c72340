/// Work that can be given up.
///
/// Every `fetch` returns one. Cancelling is safe from any thread, at any moment, any number of times; what has already
/// ended is not changed by it.
public protocol Cancelable: AnyObject, Sendable {
    /// Gives the work up. Returns at once; the work's own completion tells the outcome.
    func cancel()
}

/// A cancelable that has nothing to cancel, for work that ended before it could be given up.
public final class EmptyCancelable: Cancelable {
    /// Makes one.
    public init() {}

    /// Does nothing.
    public func cancel() {}
}

/// Several cancelables that are given up together.
///
/// Adding to a bag that was cancelled cancels the new member at once, so nothing slips through a race between the two.
public final class CancelableBag: Cancelable {
    private let members = Lock(CancelableMembers())

    /// Makes an empty bag.
    public init() {}

    /// Whether `cancel` was called.
    public var isCancelled: Bool { members.withLock { $0.isCancelled } }

    /// Adds a member, or cancels it at once if the bag was cancelled.
    ///
    /// - Parameter member: The work to give up together with the rest.
    public func add(_ member: any Cancelable) {
        if !members.withLock({ $0.add(member) }) { member.cancel() }
    }

    /// Cancels every member, once, and lets go of them.
    public func cancel() {
        for member in members.withLock({ $0.cancel() }) { member.cancel() }
    }

    /// Adds a member if there is one.
    ///
    /// - Parameters:
    ///   - bag: The bag to add to.
    ///   - member: The work to give up together with the rest; `nil` adds nothing.
    public static func += (bag: CancelableBag, member: (any Cancelable)?) {
        if let member { bag.add(member) }
    }
}

/// What is to be given up together, for whoever has a lock of their own. What it answers is to be cancelled, or let go of,
/// when the lock is released.
struct CancelableMembers {
    private var members: [any Cancelable] = []
    private(set) var isCancelled = false
    private var isClosed = false

    /// Takes a member. Answers no if it is to be cancelled at once.
    mutating func add(_ member: any Cancelable) -> Bool {
        if !isCancelled, !isClosed { members.append(member) }
        return !isCancelled
    }

    /// Answers the members, to be cancelled, and holds none from now on.
    mutating func cancel() -> [any Cancelable] {
        isCancelled = true
        return take()
    }

    /// Answers the members, which are not to be cancelled, and holds none from now on: what they waited for has come.
    mutating func close() -> [any Cancelable] {
        isClosed = true
        return take()
    }

    private mutating func take() -> [any Cancelable] {
        defer { members = [] }
        return members
    }
}

extension Result where Success: Sendable {
    /// What some work comes to.
    init(of work: () async throws(Failure) -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}

/// A task as something that can be given up.
final class TaskCancelable: Cancelable {
    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) { self.task = task }

    func cancel() { task.cancel() }

    /// Runs an asynchronous operation in a task of its own and hands its result on.
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
