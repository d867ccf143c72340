import Foundation

/// The files that the real servers serve, the same on each.
public enum ServedFiles {
    /// The contents of `/json`.
    public static let json = #"{"name":"network-stack","numbers":[1,2,3],"nested":{"flag":true}}"#

    /// The file names below `/bytes/` and their sizes in bytes. Their contents are `BytePattern`.
    public static let sizes = ["0": 0, "1k": 1024, "64k": 65_536, "1m": 1_048_576]

    /// The contents of `/text`, which compress well.
    public static let text = String(repeating: "All work and no play. ", count: 1000)

    static func write(into folder: TemporaryDirectory) throws {
        try folder.write("files/json", json)
        for (name, count) in sizes { try folder.write("files/bytes/\(name)", Data(BytePattern.bytes(count))) }
        try folder.write("files/text", text)
    }
}
