import Foundation
import NetworkStack

/// A field of -F, in curl's notation.
enum FormField {
    /// The fields as one body.
    static func content(_ fields: [String]) throws -> HTTP.Content {
        var form = MultipartFormData()
        for field in fields { form.parts.append(try part(field)) }
        do { return try form.content() } catch { throw Failure(making: error) }
    }

    private static func part(_ field: String) throws -> MultipartFormData.Part {
        guard let equals = field.firstIndex(of: "=") else {
            throw Failure(.refused, "'\(field)' is not a field of a form; write name=value.")
        }
        let name = String(field[..<equals])
        var pieces = field[field.index(after: equals)...].split(separator: ";", omittingEmptySubsequences: false)
            .map(String.init)
        var (mediaType, filename): (HTTP.MediaType?, String?)
        while let last = pieces.last, pieces.count > 1 {
            if last.hasPrefix("type=") {
                guard let read = HTTP.MediaType(String(last.dropFirst(5))) else {
                    throw Failure(.refused, "'\(last)' names no media type.")
                }
                mediaType = read
            } else if last.hasPrefix("filename=") {
                filename = last.dropFirst(9).trimmingCharacters(in: ["\""])
            } else {
                break
            }
            pieces.removeLast()
        }
        let value = pieces.joined(separator: ";")
        let path = String(value.dropFirst())
        if value.hasPrefix("<") {
            return .init(name: name, filename: filename, mediaType: mediaType, body: .bytes(try LocalFile.read(path)))
        }
        guard value.hasPrefix("@") else {
            return .init(name: name, filename: filename, mediaType: mediaType, body: .bytes(Data(value.utf8)))
        }
        if path != "-" { try LocalFile.requireReadable(path) }
        let own = path == "-" ? "-" : (path as NSString).lastPathComponent
        return .init(
            name: name,
            filename: filename ?? own,
            mediaType: mediaType ?? (path == "-" ? nil : guessed(path)),
            body: path == "-" ? .bytes(try LocalFile.read("-")) : .file(path: path)
        )
    }

    /// What curl guesses from a file's name.
    private static func guessed(_ path: String) -> HTTP.MediaType {
        let known = [
            "gif": "image/gif", "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "svg": "image/svg+xml",
            "txt": "text/plain", "htm": "text/html", "html": "text/html", "pdf": "application/pdf",
            "xml": "application/xml",
        ]
        return known[(path as NSString).pathExtension.lowercased()].flatMap { HTTP.MediaType($0) } ?? .octetStream
    }
}
