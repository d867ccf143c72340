internal import CCurl
internal import Glibc
internal import NetworkStack

/// Waits for sockets and for the mailbox. The wait sits behind this one file (Linux: epoll and eventfd), so that it can
/// be replaced.
///
/// A connection's registration stays in the kernel while the connection lies idle between two requests: libcurl takes it
/// away and asks for the same again, which would cost two calls for each request.
@safe
final class Poller {
    /// A socket that can be read or written.
    struct Event {
        let descriptor: Int32
        /// Which of the sockets that had this number it is.
        fileprivate let generation: UInt32
        /// The slot of the pool that waits for the socket.
        let slot: Int
        let canRead: Bool
        let canWrite: Bool
        let hasFailed: Bool
    }

    /// What is known of a socket, by its number. An object: each access to a struct in an array of an object is checked for
    /// exclusivity at run time.
    private final class Socket {
        /// What the kernel watches it for.
        var registered: UInt32 = 0
        /// What libcurl has asked for.
        var asked: UInt32 = 0
        /// What is wanted of it now: that, or less.
        var wanted: UInt32 = 0
        /// Which of the sockets that had this number it is.
        var generation: UInt32 = 0
        /// Whether its end is reported (``closed(_:)``), so that the registration may stay while libcurl does not ask for it.
        var isConnection = false
        /// Whether it is not to be read now, whatever libcurl asks for.
        var isHeldBack = false
        /// How many looks there had been when the connection was left idle.
        var leftAt: UInt64 = 0
        /// Whether something may have arrived since: a look found input, or there was no room to look.
        var mayHaveInput = false

        /// The number is another socket's from now on, or unused.
        func begin() {
            (registered, asked, wanted, isHeldBack, isConnection) = (0, 0, 0, false, false)
            generation &+= 1
        }
    }

    private let waker: Waker
    @safe @exclusivity(unchecked)
    private var sockets: [Socket] = []
    /// The connections that became idle since the last look at all idle ones.
    private let left: UnsafeMutableBufferPointer<pollfd>
    private var leftCount = 0
    /// How many looks there were.
    private var looks: UInt64 = 0
    private let buffer: UnsafeMutablePointer<epoll_event>

    /// The most events, and idle connections, per call.
    private static let room = 256

    /// Makes a poller that a waker can wake.
    init(waker: Waker) {
        self.waker = waker
        unsafe buffer = .allocate(capacity: Self.room)
        unsafe left = .allocate(capacity: Self.room)
    }

    deinit {
        unsafe left.deallocate()
        unsafe buffer.deallocate()
    }

    /// When the loop last looked at its timeouts, in milliseconds of the monotonic clock.
    var turnStart = MonotonicTime.now.milliseconds

    /// A socket was opened, to connect with. Its number may have been another's before.
    func opened(_ descriptor: Int32) {
        makeRoom(for: descriptor)
        sockets[Int(descriptor)].begin()
    }

    /// A socket that was opened has become a connection. The end of one that does not is not reported.
    func connected(_ descriptor: Int32) { sockets[Int(descriptor)].isConnection = true }

    /// A connection's socket is about to be closed. It is unregistered first: if a forked child has it open, too, the kernel would go on
    /// watching it.
    func closed(_ descriptor: Int32) {
        guard Int(descriptor) < sockets.count else { return }
        unregister(descriptor)
        sockets[Int(descriptor)].begin()
    }

    /// Changes what a socket is watched for. Neither reading nor writing ends the watch.
    ///
    /// - Returns: Whether the system could.
    @discardableResult
    func watch(_ descriptor: Int32, for slot: Int, reads: Bool, writes: Bool) -> Bool {
        makeRoom(for: descriptor)
        let socket = sockets[Int(descriptor)]
        socket.asked = (reads ? EPOLLIN.rawValue : 0) | (writes ? EPOLLOUT.rawValue : 0)
        if socket.asked == 0, socket.isConnection { leave(socket, descriptor) }
        return update(descriptor, for: slot)
    }

    /// A connection is idle from now on.
    private func leave(_ socket: Socket, _ descriptor: Int32) {
        (socket.leftAt, socket.mayHaveInput) = (looks, unsafe leftCount == left.count)
        guard !socket.mayHaveInput else { return }
        unsafe left[leftCount] = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        leftCount += 1
    }

    /// Whether the kernel watches a socket.
    func isKnown(_ descriptor: Int32) -> Bool {
        Int(descriptor) < sockets.count && sockets[Int(descriptor)].registered != 0
    }

    /// Whether a socket is watched for anything.
    func isWatched(_ descriptor: Int32) -> Bool {
        Int(descriptor) < sockets.count && sockets[Int(descriptor)].asked != 0
    }

    /// Whether nothing has come on a connection that lies idle. The kernel is asked once for all that were left since the loop
    /// last waited, which covers those that were left before: what comes on one ends its registration.
    func isSilent(_ descriptor: Int32) -> Bool {
        guard Int(descriptor) < sockets.count else { return false }
        let socket = sockets[Int(descriptor)]
        guard socket.isConnection, socket.asked == 0, socket.registered & EPOLLIN.rawValue != 0 else { return false }
        if socket.leftAt == looks { lookAtLeft() }
        return !socket.mayHaveInput
    }

    private func lookAtLeft() {
        let hasFailed = unsafe poll(left.baseAddress, nfds_t(leftCount), 0) < 0
        for index in 0..<leftCount {
            let place = unsafe left[index]
            if hasFailed || place.revents != 0 { sockets[Int(place.fd)].mayHaveInput = true }
        }
        endLook()
    }

    private func endLook() {
        looks += 1
        leftCount = 0
    }

    /// Stops reporting that a socket is readable, or reports it again.
    ///
    /// - Returns: Whether the system could.
    @discardableResult
    func holdBack(_ descriptor: Int32, _ isHeldBack: Bool, for slot: Int) -> Bool {
        makeRoom(for: descriptor)
        guard sockets[Int(descriptor)].isHeldBack != isHeldBack else { return true }
        sockets[Int(descriptor)].isHeldBack = isHeldBack
        return update(descriptor, for: slot)
    }

    /// Has the kernel watch a socket for what is wanted of it now. It may have no room for another.
    private func update(_ descriptor: Int32, for slot: Int) -> Bool {
        let socket = sockets[Int(descriptor)]
        let wanted = socket.isHeldBack ? socket.asked & ~EPOLLIN.rawValue : socket.asked
        let isLeft = socket.isConnection && (wanted == 0 || wanted == socket.registered)
        let isKnown = socket.registered != 0
        socket.wanted = wanted
        if isLeft { return true }
        guard wanted != 0 else {
            unregister(descriptor)
            return true
        }
        // A closed socket leaves the kernel's set by itself, and its number comes back as another socket's: whichever
        // of the two calls fits the kernel's view is made.
        let (call, other) = isKnown ? (EPOLL_CTL_MOD, EPOLL_CTL_ADD) : (EPOLL_CTL_ADD, EPOLL_CTL_MOD)
        let isDone =
            control(call, descriptor, events: wanted, slot: slot)
            || control(other, descriptor, events: wanted, slot: slot)
        socket.registered = isDone ? wanted : 0
        return isDone
    }

    /// Has the kernel watch a socket no longer.
    private func unregister(_ descriptor: Int32) {
        if sockets[Int(descriptor)].registered != 0 { control(EPOLL_CTL_DEL, descriptor, events: 0, slot: 0) }
        sockets[Int(descriptor)].registered = 0
    }

    private func makeRoom(for descriptor: Int32) {
        guard sockets.count <= Int(descriptor) else { return }
        while sockets.count <= Int(descriptor) { sockets.append(Socket()) }
    }

    /// Whether an event is still its socket's, and wanted: since it came, that may have been closed, and its number another's,
    /// or held back.
    func isCurrent(_ event: Event) -> Bool {
        generation(of: event.descriptor) == event.generation && sockets[Int(event.descriptor)].wanted != 0
    }

    private func generation(of descriptor: Int32) -> UInt32 {
        Int(descriptor) < sockets.count ? sockets[Int(descriptor)].generation : 0
    }

    /// Stops watching a socket if libcurl waits for nothing of it any more.
    ///
    /// - Returns: Whether libcurl waits for something of it.
    private func keepsWatching(_ descriptor: Int32) -> Bool {
        guard Int(descriptor) < sockets.count, sockets[Int(descriptor)].wanted == 0 else { return true }
        unregister(descriptor)
        return false
    }

    @discardableResult
    private func control(_ operation: Int32, _ descriptor: Int32, events: UInt32, slot: Int) -> Bool {
        var event = unsafe epoll_event()
        unsafe event.events = events
        unsafe event.data.u64 = UInt64(UInt32(bitPattern: descriptor)) | UInt64(slot) << 32
        return unsafe epoll_ctl(waker.poller, operation, descriptor, &event) == 0
    }

    /// Waits until a socket is ready, another thread wakes the loop, or time is up.
    ///
    /// - Parameters:
    ///   - milliseconds: The longest wait; negative for no limit.
    ///   - ready: Takes the sockets that are ready.
    func wait(milliseconds: Int32, into ready: inout [Event]) {
        let count = unsafe epoll_wait(waker.poller, buffer, Int32(Self.room), milliseconds)
        // A full buffer may have left some out.
        if count >= 0, count < Self.room { endLook() }
        guard count > 0 else { return }
        for index in 0..<Int(count) {
            let event = unsafe buffer[index]
            let (tag, bits) = unsafe (event.data.u64, event.events)
            let descriptor = Int32(bitPattern: UInt32(truncatingIfNeeded: tag))
            guard descriptor != waker.descriptor, keepsWatching(descriptor) else { continue }
            ready.append(
                Event(
                    descriptor: descriptor,
                    generation: generation(of: descriptor),
                    slot: Int(tag >> 32),
                    canRead: bits & (EPOLLIN.rawValue | EPOLLHUP.rawValue | EPOLLRDHUP.rawValue) != 0,
                    canWrite: bits & EPOLLOUT.rawValue != 0,
                    hasFailed: bits & EPOLLERR.rawValue != 0
                )
            )
        }
    }
}

/// Wakes a poller from another thread. The poller's own descriptor is opened with it, where a failure can be reported.
@safe
final class Waker: Sendable {
    let descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    fileprivate let poller = epoll_create1(Int32(EPOLL_CLOEXEC))

    /// Whether the system had both descriptors to give, and watches the first.
    let isOpen: Bool

    init() {
        // Each wake-up is one event (edge-triggered), so that none has to be read back.
        var event = unsafe epoll_event()
        unsafe event.events = EPOLLIN.rawValue | EPOLLET.rawValue
        unsafe event.data.u64 = UInt64(UInt32(bitPattern: descriptor))
        isOpen = unsafe epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) == 0
    }

    deinit {
        if poller >= 0 { close(poller) }
        if descriptor >= 0 { close(descriptor) }
    }

    func wake() {
        var one: UInt64 = 1
        _ = unsafe write(descriptor, &one, MemoryLayout<UInt64>.size)
    }
}
