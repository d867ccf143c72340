internal import CCurl

/// zstd (RFC 8878), with the window of at most 8 MiB that RFC 9659 sets for HTTP.
@safe
final class ZstdDecoder: ContentDecoder {
    @safe
    private struct Library: Sendable {
        typealias Create = @Sendable @convention(c) () -> UnsafeMutableRawPointer?
        typealias Configure = @Sendable @convention(c) (UnsafeMutableRawPointer?, Int32, Int32) -> Int
        typealias Step =
            @Sendable @convention(c) (
                UnsafeMutableRawPointer?, UnsafeMutablePointer<shim_zstd_out>?, UnsafeMutablePointer<shim_zstd_in>?
            ) -> Int
        typealias IsError = @Sendable @convention(c) (Int) -> UInt32
        typealias Free = @Sendable @convention(c) (UnsafeMutableRawPointer?) -> Int

        let create: Create
        let configure: Configure
        let step: Step
        let isError: IsError
        let free: Free

        static let shared: Library? = {
            guard let library = DynamicLibrary("libzstd.so.1"),
                let create: Create = unsafe library.function("ZSTD_createDCtx"),
                let configure: Configure = unsafe library.function("ZSTD_DCtx_setParameter"),
                let step: Step = unsafe library.function("ZSTD_decompressStream"),
                let isError: IsError = library.function("ZSTD_isError"),
                let free: Free = unsafe library.function("ZSTD_freeDCtx")
            else { return nil }
            return unsafe Library(create: create, configure: configure, step: step, isError: isError, free: free)
        }()
    }

    private let library: Library
    private let context: UnsafeMutableRawPointer
    private let scratch = DecodingScratch()
    private(set) var isFinished = false

    init?() {
        guard let library = Library.shared, let context = unsafe library.create() else { return nil }
        self.library = library
        unsafe self.context = context
        // ZSTD_d_windowLogMax
        _ = unsafe library.configure(context, 100, 23)
    }

    deinit { _ = unsafe library.free(context) }

    func decode(_ bytes: RawSpan, _ take: (RawSpan) -> Bool) -> DecodingStep {
        unsafe bytes.withUnsafeBytes { buffer in
            var input = unsafe shim_zstd_in(src: buffer.baseAddress, size: buffer.count, pos: 0)
            var isFull = false
            while unsafe input.pos < input.size || isFull {
                var output = unsafe shim_zstd_out(dst: scratch.start, size: DecodingScratch.size, pos: 0)
                let code = unsafe library.step(context, &output, &input)
                guard library.isError(code) == 0 else { return .corrupt }
                // 0: a frame is complete; another may follow.
                isFinished = code == 0
                let count = unsafe output.pos
                if count > 0, !scratch.hand(count, to: take) { return .stopped }
                isFull = count == DecodingScratch.size && !isFinished
            }
            return .goOn
        }
    }
}
