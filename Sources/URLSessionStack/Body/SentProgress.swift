/// How much of a body was sent, of the pieces that URLSession reports. It reports the last pieces of a body late: it may have asked
/// for the stream of a repeat by then.
struct SentProgress {
    private var stream: SourceStream?
    /// The bytes that were read before the latest stream began, and before the stream that preceded it.
    private var (start, lastStart): (Int64, Int64) = (0, 0)
    private var reported: Int64 = 0

    /// URLSession is about to read a body from its first byte on.
    mutating func begin(_ stream: SourceStream?) {
        lastStart = start
        // What is not counted was reported, for all that is known.
        start = self.stream.map { start + $0.readCount } ?? reported
        self.stream = stream
    }

    /// URLSession reports a piece.
    ///
    /// - Returns: The bytes of its body that were sent.
    mutating func sent(_ count: Int64) -> Int64 {
        reported += count
        return reported > start ? reported - start : reported - lastStart
    }
}
