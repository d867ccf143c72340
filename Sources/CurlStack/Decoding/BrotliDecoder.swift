/// br (RFC 7932).
@safe
final class BrotliDecoder: ContentDecoder {
    @safe
    private struct Library: Sendable {
        typealias Create =
            @Sendable @convention(c) (
                UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
            ) -> UnsafeMutableRawPointer?
        typealias Step =
            @Sendable @convention(c) (
                UnsafeMutableRawPointer?, UnsafeMutablePointer<Int>?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
                UnsafeMutablePointer<Int>?, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?,
                UnsafeMutablePointer<Int>?
            ) -> Int32
        typealias Destroy = @Sendable @convention(c) (UnsafeMutableRawPointer?) -> Void

        let create: Create
        let step: Step
        let destroy: Destroy

        static let shared: Library? = {
            guard let library = DynamicLibrary("libbrotlidec.so.1"),
                let create: Create = unsafe library.function("BrotliDecoderCreateInstance"),
                let step: Step = unsafe library.function("BrotliDecoderDecompressStream"),
                let destroy: Destroy = unsafe library.function("BrotliDecoderDestroyInstance")
            else { return nil }
            return unsafe Library(create: create, step: step, destroy: destroy)
        }()
    }

    private let library: Library
    private let state: UnsafeMutableRawPointer
    private let scratch = DecodingScratch()
    private(set) var isFinished = false
    private var padding = Padding()

    init?() {
        guard let library = Library.shared, let state = unsafe library.create(nil, nil, nil) else { return nil }
        self.library = library
        unsafe self.state = state
    }

    deinit { unsafe library.destroy(state) }

    func decode(_ bytes: RawSpan, _ take: (RawSpan) -> Bool) -> DecodingStep {
        guard !isFinished else { return padding.take(bytes.byteCount) }
        return unsafe bytes.withUnsafeBytes { input in
            var next = unsafe input.baseAddress?.assumingMemoryBound(to: UInt8.self)
            var left = input.count
            while true {
                var output: UnsafeMutablePointer<UInt8>? = unsafe scratch.start
                var room = DecodingScratch.size
                let code = unsafe library.step(state, &left, &next, &room, &output, nil)
                // 0: corrupt. 1: the end. 2: wants more input. 3: wants more room.
                guard code != 0 else { return .corrupt }
                isFinished = code == 1
                let count = DecodingScratch.size - room
                if count > 0, !scratch.hand(count, to: take) { return .stopped }
                if code != 3 { return isFinished ? padding.take(left) : .goOn }
            }
        }
    }
}
