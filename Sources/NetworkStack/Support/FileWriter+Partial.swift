#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

extension FileWriter {
    /// Where a file is written until it is whole: beside its place, under another name that is never too long for
    /// where that of the file is not (255 bytes).
    static func partialPath(for path: String) -> String {
        let start = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) } ?? path.startIndex
        var name = String(path[start...])
        while name.utf8.count > 230 { name.removeLast() }
        return "\(path[..<start])\(name).\(UInt32.random(in: .min ... .max)).partial"
    }
}

extension String {
    /// Whether the system would take the path for that of another file: it reads up to a zero byte.
    var namesAnother: Bool { utf8.contains(0) }
}

extension mode_t {
    /// Why no file can take the place of what this is the mode of: the system's error number, or 0 for a file.
    var objection: Int32 {
        switch self & S_IFMT {
        case S_IFREG: 0
        case S_IFDIR: EISDIR
        default: EINVAL
        }
    }
}
