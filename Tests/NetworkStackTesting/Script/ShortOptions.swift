import NetworkStack

// Options in one expression, for tests: what is not given has its default.

extension HTTP.Options.Redirects {
    package init(limit: Int? = nil, allowsInsecure: Bool = false) {
        self.init()
        if let limit { self.limit = limit }
        self.allowsInsecure = allowsInsecure
    }
}

extension HTTP.Options.Timeouts {
    package init(
        queue: Duration? = nil,
        connect: Duration? = nil,
        firstByte: Duration? = nil,
        idle: Duration? = nil,
        attempt: Duration? = nil,
        total: Duration? = nil
    ) {
        self.init()
        (self.queue, self.connect, self.firstByte) = (queue, connect, firstByte)
        (self.attempt, self.total) = (attempt, total)
        if let idle { self.idle = idle }
    }
}

extension HTTP.Options.Limits {
    package init(body: Int64? = nil, head: Int? = nil, headFields: Int? = nil, decompressionRatio: Int? = nil) {
        self.init()
        if let body { self.body = body }
        if let head { self.head = head }
        if let headFields { self.headFields = headFields }
        self.decompressionRatio = decompressionRatio
    }
}

extension Network.Configuration.Connections {
    package init(perHost: Int? = nil, total: Int? = nil, streamsPerConnection: Int? = nil) {
        self.init()
        if let perHost { self.perHost = perHost }
        if let streamsPerConnection { self.streamsPerConnection = streamsPerConnection }
        self.total = total
    }
}
