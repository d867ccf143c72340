import CurlStack
import NetworkStack

/// A GET of a URL.
func get(_ url: String) throws -> Network.CurlResource {
    .init(baseRequestMaking: .request(try HTTP.Request(url: url)))
}
