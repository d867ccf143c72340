// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "service",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "network-stack", path: "../.."),
        .package(name: "network-stack-integrations", path: "../../Integrations"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .executableTarget(
            name: "service",
            dependencies: [
                .product(name: "CurlStack", package: "network-stack"),
                .product(name: "NetworkStack", package: "network-stack"),
                .product(name: "NetworkStackLogging", package: "network-stack-integrations"),
                .product(name: "NetworkStackMetrics", package: "network-stack-integrations"),
                .product(name: "NetworkStackService", package: "network-stack-integrations"),
                .product(name: "NetworkStackTracing", package: "network-stack-integrations"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
