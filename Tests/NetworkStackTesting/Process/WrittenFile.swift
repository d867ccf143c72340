import Glibc

/// A file that another process is writing, read up to its current end.
///
/// Foundation's reading leaks a page for each empty file on this toolchain, which LeakSanitizer reports.
struct WrittenFile: Sendable {
    let path: String

    /// The current contents; `nil` if the file cannot be opened.
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

    /// The current contents as text, repaired where it is not UTF-8; empty if the file cannot be opened.
    var text: String { String(decoding: bytes ?? [], as: UTF8.self) }
}
