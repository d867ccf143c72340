import Glibc

/// The resources of this process, as the kernel counts them.
///
/// To find leaks, compare two values of one run.
///
/// If /proc cannot be read, every value is 0.
public enum ProcessProbe {
    /// The number of open file descriptors, without the one used for counting.
    public static func openFileDescriptors() -> Int { descriptors().count }

    /// The target of each open descriptor (a path, `socket:[...]`, `anon_inode:...`), by number.
    public static func descriptors() -> [Int: String] {
        guard let folder = opendir("/proc/self/fd") else { return [:] }
        defer { closedir(folder) }
        var found: [Int: String] = [:]
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let number = Int(name), number != Int(dirfd(folder)) else { continue }
            var target = [CChar](repeating: 0, count: 512)
            let count = readlink("/proc/self/fd/\(name)", &target, target.count)
            if count > 0 {
                found[number] = String(decoding: target[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
            }
        }
        return found
    }

    /// The number of threads.
    public static func threads() -> Int { status("Threads") }

    /// The resident memory in bytes.
    public static func residentBytes() -> Int { status("VmRSS") * 1024 }

    /// The peak of resident memory, in bytes.
    public static func peakResidentBytes() -> Int { status("VmHWM") * 1024 }

    private static func status(_ field: String) -> Int {
        for line in WrittenFile(path: "/proc/self/status").text.split(separator: "\n") where line.hasPrefix(field + ":")
        {
            return Int(line.filter(\.isNumber)) ?? 0
        }
        return 0
    }
}
