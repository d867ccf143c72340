import Glibc

/// A file that another process writes, read as far as it has come.
///
/// Not Foundation's reading: on this toolchain it leaks a page for every empty file, and a log that is polled for is
/// empty often enough to fail a run under LeakSanitizer.
struct WrittenFile: Sendable {
    let path: String

    /// What the file holds now; nil when it cannot be opened.
    var bytes: [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(descriptor, &piece, piece.count), count > 0 {
            bytes.append(contentsOf: piece[..<count])
        }
        return bytes
    }

    /// What the file holds now as text, repaired where it is not UTF-8; empty when it cannot be opened.
    var text: String { String(decoding: bytes ?? [], as: UTF8.self) }
}
