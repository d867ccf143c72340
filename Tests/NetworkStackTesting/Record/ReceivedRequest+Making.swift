extension ReceivedRequest {
    /// Makes a request without a network, for stacks that answer from memory and run the same suite.
    public init(method: String, target: String, headers: [(name: String, value: String)], body: [UInt8]) {
        connectionIndex = 0
        indexOnConnection = 0
        arrivedAt = .now
        version = "HTTP/1.1"
        let lines = ["\(method) \(target) HTTP/1.1"] + headers.map { "\($0.name): \($0.value)" } + ["", ""]
        rawHead = Array(lines.joined(separator: "\r\n").utf8)
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        bodyCount = body.count
        isComplete = true
    }
}
