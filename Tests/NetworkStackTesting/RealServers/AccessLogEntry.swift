/// A line of nginx's access log.
public struct AccessLogEntry: Sendable, Decodable, CustomStringConvertible {
    /// The method.
    public let method: String
    /// The request target as sent, with its query.
    public let uri: String
    /// The status that was sent; 499 if the client closed first.
    public let status: Int
    /// `HTTP/1.1`, `HTTP/2.0` ...
    public let serverProtocol: String
    /// The bytes of the request: head and body.
    public let requestBytes: Int
    /// The bytes of the response's body.
    public let bodyBytes: Int
    /// nginx's serial number of the connection.
    public let connection: Int
    /// The number of this request on its connection, from 1.
    public let connectionRequests: Int
    /// Whether the whole answer was sent.
    public let isComplete: Bool
    /// The name in the client's SNI; empty without.
    public let serverName: String
    /// The request's X-Id field, which identifies a request; empty without.
    public let identifier: String

    enum CodingKeys: String, CodingKey {
        case method, uri, status, serverProtocol, requestBytes, bodyBytes, connection, connectionRequests, completion
        case serverName, identifier
    }

    /// Parses a line of the log; nginx writes every value as text.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func number(_ key: CodingKeys) throws -> Int {
            let text = try values.decode(String.self, forKey: key)
            guard let number = Int(text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: key,
                    in: values,
                    debugDescription: "\(text) is not a number"
                )
            }
            return number
        }
        method = try values.decode(String.self, forKey: .method)
        uri = try values.decode(String.self, forKey: .uri)
        status = try number(.status)
        serverProtocol = try values.decode(String.self, forKey: .serverProtocol)
        requestBytes = try number(.requestBytes)
        bodyBytes = try number(.bodyBytes)
        connection = try number(.connection)
        connectionRequests = try number(.connectionRequests)
        isComplete = try values.decode(String.self, forKey: .completion) == "OK"
        serverName = try values.decode(String.self, forKey: .serverName)
        identifier = try values.decode(String.self, forKey: .identifier)
    }

    /// The connection, the request and the status.
    public var description: String {
        "[\(connection)/\(connectionRequests)] \(method) \(uri) \(serverProtocol) \(status)"
    }
}
