// swift-tools-version: 6.2
import PackageDescription

// The conformance suites of both stacks alone, under links: what a sanitizer is built for.
func suite(_ name: String, of stacks: String...) -> Target {
    .testTarget(
        name: name,
        dependencies: (stacks + ["NetworkStackConformance"]).map { .product(name: $0, package: "network-stack") }
    )
}

let package = Package(
    name: "sanitized",
    dependencies: [.package(name: "network-stack", path: "../..")],
    targets: [
        suite("CurlStackTests", of: "CurlStack"),
        suite("URLSessionStackTests", of: "URLSessionStack", "CurlStack"),
    ],
    swiftLanguageModes: [.v6]
)
