// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let networkStack = Target.Dependency.product(name: "NetworkStack", package: "network-stack")

let package = Package(
    name: "network-stack-integrations",
    products: [
        .library(name: "AsyncHTTPClientStack", targets: ["AsyncHTTPClientStack"]),
        .library(name: "NetworkStackLogging", targets: ["NetworkStackLogging"]),
        .library(name: "NetworkStackMetrics", targets: ["NetworkStackMetrics"]),
        .library(name: "NetworkStackTracing", targets: ["NetworkStackTracing"]),
        .library(name: "NetworkStackService", targets: ["NetworkStackService"]),
        .library(name: "NetworkStackHTTPTypes", targets: ["NetworkStackHTTPTypes"]),
    ],
    dependencies: [
        .package(name: "network-stack", path: ".."),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.26.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .target(
            name: "AsyncHTTPClientStack",
            dependencies: [
                networkStack,
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "NIOFoundationEssentialsCompat", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: strict
        ),
        // Names of OpenTelemetry, for the three products below.
        .target(name: "SemanticConventions", dependencies: [networkStack], swiftSettings: strict),
        .target(
            name: "NetworkStackLogging",
            dependencies: [networkStack, "SemanticConventions", .product(name: "Logging", package: "swift-log")],
            swiftSettings: strict
        ),
        .target(
            name: "NetworkStackMetrics",
            dependencies: [
                networkStack, "SemanticConventions", .product(name: "CoreMetrics", package: "swift-metrics"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "NetworkStackTracing",
            dependencies: [
                networkStack,
                "SemanticConventions",
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "NetworkStackService",
            dependencies: [networkStack, .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")],
            swiftSettings: strict
        ),
        .target(
            name: "NetworkStackHTTPTypes",
            dependencies: [networkStack, .product(name: "HTTPTypes", package: "swift-http-types")],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AsyncHTTPClientStackTests",
            dependencies: [
                "AsyncHTTPClientStack",
                networkStack,
                .product(name: "NetworkStackConformance", package: "network-stack"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "NetworkStackIntegrationTests",
            dependencies: [
                "NetworkStackLogging",
                "NetworkStackMetrics",
                "NetworkStackTracing",
                "NetworkStackService",
                "NetworkStackHTTPTypes",
                networkStack,
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NetworkStackTesting", package: "network-stack"),
                .product(name: "CurlStack", package: "network-stack"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)
