internal import CCurl
internal import NetworkStack

/// The measurements of a transfer.
extension Transfer {
    /// Writes down what is known when the transfer ends.
    func measure(_ metrics: inout HTTP.Metrics) {
        metrics.queue = place.waited
        metrics.resends = sends.resends
        guard let easy else { return }
        metrics.isConnectionReused = attempt.isConnected && attempt.isReused
        if !attempt.isReused {
            metrics.resolved = easy.duration(CURLINFO_NAMELOOKUP_TIME_T)
            metrics.connected = easy.duration(CURLINFO_CONNECT_TIME_T)
            metrics.secured = easy.duration(CURLINFO_APPCONNECT_TIME_T)
        }
        metrics.firstByte = easy.duration(CURLINFO_STARTTRANSFER_TIME_T)
        if let content = request.content, !content.isNone {
            metrics.bytesSent = easy.fact(offset: CURLINFO_SIZE_UPLOAD_T)
        }
        metrics.bytesReceived = response.rawCount
        metrics.headBytesReceived = Int64(response.head.bytesRead)
        if response.decoder != nil { metrics.decodedBytes = response.bodyCount }
        // libcurl names neither before there is a connection.
        if let address = easy.fact(text: CURLINFO_PRIMARY_IP), !address.isEmpty {
            metrics.remoteAddress = address
            metrics.remotePort = easy.fact(CURLINFO_PRIMARY_PORT)
        }
        if let serverPins = attempt.serverPins {
            metrics.serverPins = serverPins.chain
            metrics.matchedPin = serverPins.matched
        }
    }
}

extension EasyHandle {
    /// A time since the start of the transfer, or `nil` if that point was not reached.
    fileprivate func duration(_ info: CURLINFO) -> Duration? {
        let microseconds = fact(offset: info)
        return microseconds > 0 ? .microseconds(microseconds) : nil
    }
}
