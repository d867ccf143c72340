public import FoundationEssentials

/// A part of a multipart form, as an independent parser reads it.
public struct ParsedFormPart: Decodable, Hashable, Sendable {
    /// The field's name, as written.
    public let name: String?
    /// The file's name, as written.
    public let filename: String?
    /// The part's media type; `text/plain` by default.
    public let type: String
    /// The value.
    public let content: Data
}

/// The mail parser of Python's standard library, as a reference for multipart forms.
public enum PythonFormParser {
    /// Parses a body. Blocks while a Python interpreter runs.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - contentType: The value of its `Content-Type`.
    /// - Returns: The parts, in order.
    /// - Throws: `TestServerError` if there is no python3, or if it finds the body malformed.
    public static func parts(of body: some Sequence<UInt8>, contentType: String) throws -> [ParsedFormPart] {
        let directory = try TemporaryDirectory("form")
        let file = try directory.write("body", Data(body))
        let output = try Program("python3", package: "python3").run(["-c", script, contentType, file])
        return try JSONDecoder().decode([ParsedFormPart].self, from: Data(output.utf8))
    }

    private static let script = """
        import base64, email, email.policy, json, sys
        with open(sys.argv[2], "rb") as file:
            body = file.read()
        head = b"MIME-Version: 1.0\\r\\nContent-Type: " + sys.argv[1].encode() + b"\\r\\n\\r\\n"
        message = email.message_from_bytes(head + body, policy=email.policy.HTTP)
        defects = message.defects + [d for part in message.iter_parts() for d in part.defects]
        if defects:
            sys.exit(repr(defects))
        parts = []
        for part in message.iter_parts():
            parts.append({
                "name": part.get_param("name", header="content-disposition"),
                "filename": part.get_filename(),
                "type": part.get_content_type(),
                "content": base64.b64encode(part.get_payload(decode=True)).decode(),
            })
        print(json.dumps(parts))
        """
}
