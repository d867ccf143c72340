import Foundation
import NetworkStack

/// Where the bodies go: the first -o or -O is for the first URL, and so on.
struct Destinations {
    private enum Place {
        case file(String)
        case remoteName
    }

    private let places: [Place]
    private let folder: String?
    private let makesFolders: Bool

    init(_ line: CommandLineReader, _ output: OutputArguments) {
        places = line.occurrences.compactMap { option in
            switch option.name {
            case "output": option.value.map { .file($0) }
            case "remote-name": .remoteName
            default: nil
            }
        }
        (folder, makesFolders) = (output.outputDir, output.createDirs)
    }

    /// The file for the body of a URL: `nil` for standard output, `-` if that was asked for.
    ///
    /// - Throws: A ``Failure``.
    func file(for request: HTTP.Request, at index: Int) throws(Failure) -> String? {
        guard index < places.count else { return nil }
        var file: String
        switch places[index] {
        case .file(let name): file = name
        case .remoteName: file = try Self.name(in: request.url)
        }
        if file == "-" { return file }
        if let folder { file = folder + "/" + file }
        if makesFolders { try Self.makeFolders(of: file) }
        return file
    }

    /// The last segment of a URL's path, as it is written, like curl's: with an escaped slash it could be a path to anywhere.
    private static func name(in url: URL) throws(Failure) -> String {
        let segments = url.path(percentEncoded: true).utf8.split(separator: UInt8(ascii: "/"))
        let name = segments.last.flatMap { String($0) } ?? ""
        guard !name.isEmpty, !url.hasDirectoryPath, name != "..", name != "." else {
            throw Failure(.url, "The URL names no file; name one with -o.", exitCode: 23)
        }
        return name
    }

    private static func makeFolders(of file: String) throws(Failure) {
        do {
            try FileManager.default.createDirectory(
                atPath: (file as NSString).deletingLastPathComponent,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o750]
            )
        } catch {
            throw Failure(.other, "\(file): the folder cannot be made", exitCode: 23)
        }
    }
}
