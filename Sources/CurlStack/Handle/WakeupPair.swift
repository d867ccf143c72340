internal import CCurl
internal import Glibc

/// The two ends of the socket pair that wakes a multi handle (`curl_multi_wakeup`).
///
/// libcurl 7.88 makes them without close-on-exec (lib/socketpair.c) and has no option that names them. A wakeup marks them among all
/// other descriptors: one end has a byte more to read, the other a byte more on its way. The loop itself uses no wakeups.
enum WakeupPair {
    private struct Counts {
        let unread: Int32
        let unsent: Int32
    }

    /// Makes a multi handle of whose descriptors no other program inherits any; `nil` if there is no memory for one.
    static func makeHandle() -> UnsafeMutableRawPointer? {
        let lowest = lowestFree()
        guard let multi = unsafe curl_multi_init() else { return nil }
        // What was free is given out from below: the pair is beneath what is free now.
        let candidates = lowest..<max(lowest, lowestFree())
        let inherited = candidates.compactMap { number in counts(of: number).map { (number, $0) } }
        if inherited.isEmpty { return unsafe multi }
        unsafe curl_multi_wakeup(multi)
        for (number, before) in inherited {
            guard let after = counts(of: number) else { continue }
            if after.unread == before.unread + 1 || after.unsent > before.unsent {
                _ = fcntl(number, F_SETFD, FD_CLOEXEC)
            }
        }
        // Takes the byte away.
        unsafe curl_multi_poll(multi, nil, 0, 0, nil)
        return unsafe multi
    }

    private static func lowestFree() -> Int32 {
        let number = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
        if number >= 0 { close(number) }
        return max(number, 0)
    }

    /// What waits on a Unix socket that others would inherit; `nil` for any other descriptor.
    private static func counts(of number: Int32) -> Counts? {
        let flags = fcntl(number, F_GETFD)
        guard flags >= 0, flags & FD_CLOEXEC == 0 else { return nil }
        var (family, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        guard unsafe getsockopt(number, SOL_SOCKET, SO_DOMAIN, &family, &length) == 0, family == AF_UNIX else {
            return nil
        }
        var (unread, unsent) = (Int32(0), Int32(0))
        guard unsafe ioctl(number, UInt(FIONREAD), &unread) == 0, unsafe ioctl(number, UInt(TIOCOUTQ), &unsent) == 0
        else { return nil }
        return Counts(unread: unread, unsent: unsent)
    }
}
