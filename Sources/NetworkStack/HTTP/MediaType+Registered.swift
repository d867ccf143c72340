extension HTTP.MediaType {
    /// Any media type, in a list of accepted types.
    public static let any: Self = "*/*"

    /// JSON (RFC 8259).
    public static let json: Self = "application/json"
    /// An error of an HTTP API, in JSON (RFC 9457).
    public static let problemJSON: Self = "application/problem+json"
    /// A change, as a list of operations in JSON (RFC 6902).
    public static let jsonPatch: Self = "application/json-patch+json"
    /// A change, as the members that differ, in JSON (RFC 7396).
    public static let mergePatch: Self = "application/merge-patch+json"
    /// JSON:API documents.
    public static let jsonAPI: Self = "application/vnd.api+json"
    /// Linked data in JSON.
    public static let jsonLD: Self = "application/ld+json"
    /// A sequence of JSON texts (RFC 7464).
    public static let jsonSequence: Self = "application/json-seq"
    /// A form's fields in one line (WHATWG URL).
    public static let formURLEncoded: Self = "application/x-www-form-urlencoded"
    /// A form's fields as parts (RFC 7578). It needs a boundary; ``MultipartFormData`` makes both.
    public static let multipartFormData: Self = "multipart/form-data"
    /// Ranges of one representation (RFC 9110 section 14.6).
    public static let multipartByteranges: Self = "multipart/byteranges"
    /// Parts of any type (RFC 2046).
    public static let multipartMixed: Self = "multipart/mixed"

    /// Arbitrary bytes (RFC 2046).
    public static let octetStream: Self = "application/octet-stream"
    /// Unformatted text (RFC 2046).
    public static let plainText: Self = "text/plain"
    /// HTML.
    public static let html: Self = "text/html"
    /// Cascading style sheets (RFC 2318).
    public static let css: Self = "text/css"
    /// Comma-separated values (RFC 4180).
    public static let csv: Self = "text/csv"
    /// A calendar (RFC 5545).
    public static let calendar: Self = "text/calendar"
    /// Markdown (RFC 7763).
    public static let markdown: Self = "text/markdown"
    /// JavaScript (RFC 9239).
    public static let javaScript: Self = "text/javascript"
    /// Server-sent events.
    public static let eventStream: Self = "text/event-stream"
    /// XML (RFC 7303).
    public static let xml: Self = "application/xml"
    /// YAML (RFC 9512).
    public static let yaml: Self = "application/yaml"

    /// CBOR (RFC 8949).
    public static let cbor: Self = "application/cbor"
    /// PDF (RFC 8118).
    public static let pdf: Self = "application/pdf"
    /// ZIP archives.
    public static let zip: Self = "application/zip"
    /// A gzip file (RFC 6713).
    public static let gzip: Self = "application/gzip"
    /// WebAssembly.
    public static let wasm: Self = "application/wasm"

    /// AVIF images.
    public static let avif: Self = "image/avif"
    /// GIF images (RFC 2046).
    public static let gif: Self = "image/gif"
    /// JPEG images (RFC 2046).
    public static let jpeg: Self = "image/jpeg"
    /// PNG images.
    public static let png: Self = "image/png"
    /// SVG images.
    public static let svg: Self = "image/svg+xml"
    /// WebP images (RFC 9649).
    public static let webP: Self = "image/webp"
    /// MPEG audio (RFC 3003).
    public static let mpegAudio: Self = "audio/mpeg"
    /// MP4 video (RFC 4337).
    public static let mp4: Self = "video/mp4"
}
