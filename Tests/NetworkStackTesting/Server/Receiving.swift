/// Reading requests.
extension ScriptedServer.Connection {
    /// Longer heads are refused, so that a client cannot fill the memory.
    private static let headLimit = 4 * 1024 * 1024

    /// Reads exactly `count` bytes.
    public func receive(_ count: Int) throws -> [UInt8] {
        while buffer.count < count { try fill() }
        return take(count)
    }

    /// Reads at least one byte, and everything else that has arrived.
    public func receiveSome() throws -> [UInt8] {
        if buffer.isEmpty { try fill() }
        return take(buffer.count)
    }

    /// Reads a head up to its blank line and records it as the connection's next request.
    @discardableResult
    public func receiveHead() throws -> ReceivedRequest {
        let bytes = try receive(through: [13, 10, 13, 10], limit: Self.headLimit)
        guard let request = ReceivedRequest(head: bytes, connectionIndex: index, indexOnConnection: requestCount) else {
            throw ScriptedServer.Interruption.malformed("a request line without three parts")
        }
        requestCount += 1
        currentRequest = (request, ledger.arrived(request))
        return request
    }

    /// Reads the body of the last request by its framing; returns the request with its body.
    ///
    /// The record's `bodyCount` grows as bytes arrive. Its `body` is set at the end, also after an error.
    @discardableResult
    public func receiveBody() throws -> ReceivedRequest {
        guard let request = currentRequest?.request else {
            throw ScriptedServer.Interruption.malformed("a body was requested before a head")
        }
        var body: [UInt8] = []
        do {
            switch request.framing {
            case .none: break
            case .length(let count): try receiveBodyBytes(count, into: &body)
            case .chunked: try receiveChunks(into: &body)
            }
        } catch {
            updateRequest { $0.body = body }
            throw error
        }
        return updateRequest {
            $0.body = body
            $0.isComplete = true
        }
    }

    /// Reads until the peer closes or resets, for at most `limit`, and records the bytes.
    public func waitForClose(within limit: Duration = .seconds(30)) throws {
        let deadline = ContinuousClock.now + limit
        do {
            while true {
                buffer.removeAll(keepingCapacity: true)
                try fill(until: deadline)
            }
        } catch ScriptedServer.Interruption.closedByPeer {
        } catch ScriptedServer.Interruption.resetByPeer {
        }
    }

    /// Discards bytes until the peer closes or the server stops, without answering.
    func discardUntilClose() throws {
        while true {
            buffer.removeAll(keepingCapacity: true)
            try fill(until: .now + .seconds(3600))
        }
    }

    private func receiveChunks(into body: inout [UInt8]) throws {
        while true {
            let line = String(decoding: try receive(through: [13, 10], limit: 4096), as: UTF8.self)
            let digits = line.prefix { $0.isHexDigit }
            guard let count = Int(digits, radix: 16) else {
                throw ScriptedServer.Interruption.malformed("a chunk size that is not hexadecimal")
            }
            if count == 0 { break }
            try receiveBodyBytes(count, into: &body)
            guard try receive(2) == [13, 10] else {
                throw ScriptedServer.Interruption.malformed("a chunk longer than its size")
            }
        }
        var lines: [Substring] = []
        while case let line = try receive(through: [13, 10], limit: Self.headLimit), line.count > 2 {
            lines.append(Substring(decoding: line.dropLast(2), as: UTF8.self))
        }
        let trailers = ReceivedRequest.fields(lines)
        updateRequest { $0.trailers = trailers }
    }

    private func receiveBodyBytes(_ count: Int, into body: inout [UInt8]) throws {
        var left = count
        while left > 0 {
            if buffer.isEmpty { try fill() }
            let piece = take(min(left, buffer.count))
            left -= piece.count
            body.append(contentsOf: piece.prefix(max(0, options.recordLimit - body.count)))
            updateRequest { $0.bodyCount += piece.count }
        }
    }

    @discardableResult
    private func updateRequest(_ change: (inout ReceivedRequest) -> Void) -> ReceivedRequest {
        guard var current = currentRequest else { preconditionFailure("only called after a head") }
        change(&current.request)
        ledger.update(current.request, at: current.place)
        currentRequest = current
        return current.request
    }

    private func receive(through end: [UInt8], limit: Int) throws -> [UInt8] {
        var searched = 0
        while true {
            if let found = buffer[searched...].firstRange(of: end) { return take(found.upperBound) }
            guard buffer.count <= limit else { throw ScriptedServer.Interruption.malformed("more than \(limit) bytes") }
            searched = max(0, buffer.count - end.count + 1)
            try fill()
        }
    }

    private func take(_ count: Int) -> [UInt8] {
        let taken = Array(buffer[..<count])
        buffer.removeFirst(count)
        return taken
    }
}
