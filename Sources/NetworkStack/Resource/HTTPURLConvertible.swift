public import FoundationEssentials

/// A URL of a short call: text or a `URL`.
public protocol HTTPURLConvertible: Sendable {
    /// The URL.
    ///
    /// - Returns: An absolute http or https URL.
    /// - Throws: ``HTTP/InvalidValue`` with the reason in a sentence.
    func httpURL() throws(HTTP.InvalidValue) -> URL
}

/// A text as the URL of a short call.
extension String: HTTPURLConvertible {
    /// The URL of the text, as ``HTTP/Request/init(method:url:headers:body:)-(_,String,_,_)`` takes it.
    public func httpURL() throws(HTTP.InvalidValue) -> URL { try HTTP.Request(url: self).url }
}

/// A `URL` as the URL of a short call.
extension URL: HTTPURLConvertible {
    /// The URL itself.
    public func httpURL() -> URL { self }
}
