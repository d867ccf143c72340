// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "network-stack-benchmarks-async-http-client",
    dependencies: [
        .package(name: "network-stack-benchmarks", path: ".."),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    ],
    targets: [
        .executableTarget(
            name: "bench-async-http-client",
            dependencies: [
                .product(name: "BenchmarkClients", package: "network-stack-benchmarks"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
