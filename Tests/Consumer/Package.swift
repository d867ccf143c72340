// swift-tools-version: 6.2
import PackageDescription

/// A program that depends on one product of the package.
func consumer(_ name: String, of product: String) -> Target {
    .executableTarget(name: name, dependencies: [.product(name: product, package: "network-stack")])
}

let package = Package(
    name: "consumers",
    dependencies: [.package(name: "network-stack", path: "../..")],
    targets: [
        consumer("Vocabulary", of: "NetworkStack"),
        consumer("CurlOnly", of: "CurlStack"),
        consumer("URLSessionOnly", of: "URLSessionStack"),
        consumer("TestingOnly", of: "NetworkStackTesting"),
        consumer("ConformanceOnly", of: "NetworkStackConformance"),
        consumer("OneFetch", of: "CurlStack"),
    ],
    swiftLanguageModes: [.v6]
)
