// swift-tools-version: 6.2
import PackageDescription

// The conformance suites of both stacks, as links, without the other tests: what `make tsan` and `make asan` build.
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
