internal import CCurl

/// gzip (RFC 1952) and deflate (RFC 1950, and the bare RFC 1951 that some servers send instead).
@safe
final class ZlibDecoder: ContentDecoder {
    @safe
    private struct Library: Sendable {
        typealias Initialize =
            @Sendable @convention(c) (
                UnsafeMutablePointer<shim_zlib_stream>?, Int32, UnsafePointer<CChar>?, Int32
            ) -> Int32
        typealias Step = @Sendable @convention(c) (UnsafeMutablePointer<shim_zlib_stream>?, Int32) -> Int32
        typealias Act = @Sendable @convention(c) (UnsafeMutablePointer<shim_zlib_stream>?) -> Int32

        let initialize: Initialize
        let inflate: Step
        let reset: Act
        let end: Act

        static let shared: Library? = {
            guard let library = DynamicLibrary("libz.so.1"),
                let initialize: Initialize = unsafe library.function("inflateInit2_"),
                let inflate: Step = unsafe library.function("inflate"),
                let reset: Act = unsafe library.function("inflateReset"),
                let end: Act = unsafe library.function("inflateEnd")
            else { return nil }
            return unsafe Library(initialize: initialize, inflate: inflate, reset: reset, end: end)
        }()
    }

    private let library: Library
    private let stream: UnsafeMutablePointer<shim_zlib_stream>
    private let scratch: DecodingScratch
    private let isGzip: Bool
    private var isInitialized = false
    private var padding = Padding()
    private(set) var isFinished = false

    init?(isGzip: Bool) {
        guard let library = Library.shared else { return nil }
        self.library = library
        self.isGzip = isGzip
        scratch = DecodingScratch()
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: shim_zlib_stream())
    }

    deinit {
        if isInitialized { _ = unsafe library.end(stream) }
        unsafe stream.deallocate()
    }

    func decode(_ bytes: RawSpan, _ take: (RawSpan) -> Bool) -> DecodingStep {
        guard !bytes.isEmpty, isInitialized || initialize(for: unsafe bytes.unsafeLoad(as: UInt8.self)) else {
            return bytes.isEmpty ? .goOn : .corrupt
        }
        return unsafe bytes.withUnsafeBytes { input in
            unsafe stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
            unsafe stream.pointee.avail_in = UInt32(input.count)
            repeat {
                if isFinished {
                    // Another gzip member may follow (RFC 1952 section 2.2); anything else is padding.
                    let next = unsafe stream.pointee.avail_in > 0 ? stream.pointee.next_in.pointee : 0
                    guard isGzip, next == 0x1F, !padding.hasBegun else {
                        return padding.take(Int(unsafe stream.pointee.avail_in))
                    }
                    guard unsafe library.reset(stream) == 0 else { return .corrupt }
                }
                unsafe stream.pointee.next_out = scratch.start
                unsafe stream.pointee.avail_out = UInt32(DecodingScratch.size)
                let code = unsafe library.inflate(stream, 0)
                // 0: went on. 1: the end. -5: there was nothing to go on with.
                guard code == 0 || code == 1 || code == -5 else { return .corrupt }
                isFinished = code == 1
                let count = DecodingScratch.size - Int(unsafe stream.pointee.avail_out)
                if count > 0, !scratch.hand(count, to: take) { return .stopped }
                if code == -5 { return .goOn }
            } while hasMoreToDo
            return .goOn
        }
    }

    private var hasMoreToDo: Bool {
        let (left, room) = unsafe (stream.pointee.avail_in, stream.pointee.avail_out)
        return left > 0 || room == 0
    }

    /// A zlib stream begins with a byte whose low half is 8; the bare deflate streams that encoders write do not.
    private func initialize(for first: UInt8) -> Bool {
        let windowBits: Int32 = isGzip ? 31 : first & 0x0F == 8 && first >> 4 <= 7 ? 15 : -15
        let size = unsafe Int32(MemoryLayout<shim_zlib_stream>.size)
        isInitialized = unsafe library.initialize(stream, windowBits, "1.2.11", size) == 0
        return isInitialized
    }
}
