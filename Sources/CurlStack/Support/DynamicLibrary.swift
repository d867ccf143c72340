internal import Glibc

/// A shared library that is looked up by name, because libcurl is linked with it and this package is not.
@safe
struct DynamicLibrary {
    private let handle: UnsafeMutableRawPointer

    /// Opens a library, for as long as the process lives.
    init?(_ name: String) {
        guard let handle = unsafe dlopen(name, RTLD_NOW) else { return nil }
        unsafe self.handle = handle
    }

    /// A function of the library, of a type the caller vouches for.
    func function<Function>(_ name: String) -> Function? {
        guard let symbol = unsafe dlsym(handle, name) else { return nil }
        return unsafe unsafeBitCast(symbol, to: Function.self)
    }
}

/// Where a decoder puts its output before it is handed on.
@safe
final class DecodingScratch {
    static let size = 32 * 1024

    let start: UnsafeMutablePointer<UInt8>

    init() {
        unsafe start = .allocate(capacity: Self.size)
        unsafe start.initialize(repeating: 0, count: Self.size)
    }

    deinit { unsafe start.deallocate() }

    /// Hands the first bytes on.
    func hand(_ count: Int, to take: (RawSpan) -> Bool) -> Bool {
        take(unsafe RawSpan(_unsafeStart: start, byteCount: count))
    }
}
