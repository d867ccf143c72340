internal import Foundation
internal import NetworkStack

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension URLSession {
    /// Takes the header fields from an injected session, which no longer adds them itself. Fields that cannot be sent with every
    /// request are a fatal error.
    func takeHeaders() -> HTTP.Headers {
        var others = Network.Configuration()
        others.headers = HTTP.Headers(additional: Platform.takeFields(from: self))
        if HTTP.Headers(additional: configuration.httpAdditionalHeaders ?? [:]).haveCredentials {
            fatalError(
                """
                The session's configuration has credentials among its httpAdditionalHeaders, which would follow a \
                redirect to any server. Give them to the requests.
                """
            )
        }
        do { try others.validate() } catch {
            fatalError("The session's configuration has httpAdditionalHeaders that no request can have: \(error)")
        }
        return others.headers
    }
}
