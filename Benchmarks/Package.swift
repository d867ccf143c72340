// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// Every client is a program of its own, so that none pays for another's libraries. AsyncHTTPClient, with the packages it
// stands on, is a package of its own beside this one: nothing here waits for it.
let package = Package(
    name: "network-stack-benchmarks",
    products: [
        .library(name: "BenchmarkClients", targets: ["BenchmarkClients"])
    ],
    dependencies: [
        .package(name: "network-stack", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(url: "https://github.com/ordo-one/TextTable", from: "0.0.2"),
    ],
    targets: [
        .target(name: "BenchmarkClients", swiftSettings: settings),
        .executableTarget(
            name: "bench",
            dependencies: [
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Histogram", package: "hdrhistogram-swift"),
                .product(name: "TextTable", package: "TextTable"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "bench-curl-stack",
            dependencies: [
                "BenchmarkClients",
                .product(name: "NetworkStack", package: "network-stack"),
                .product(name: "CurlStack", package: "network-stack"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "bench-urlsession-stack",
            dependencies: [
                "BenchmarkClients",
                .product(name: "NetworkStack", package: "network-stack"),
                .product(name: "URLSessionStack", package: "network-stack"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(name: "bench-urlsession", dependencies: ["BenchmarkClients"], swiftSettings: settings),
        // The floor: libcurl's multi interface in C, with the options the curl stack sets; as it is, and with the decoder
        // of the Swift clients behind it.
        .target(name: "Floor", linkerSettings: [.linkedLibrary("curl")]),
        .executableTarget(name: "bench-floor", dependencies: ["Floor"]),
        .executableTarget(
            name: "bench-floor-decode",
            dependencies: ["BenchmarkClients", "Floor"],
            swiftSettings: settings
        ),
        // The least that awaiting it costs, or being called back: no library at all between Swift and the floor.
        .executableTarget(
            name: "bench-floor-swift",
            dependencies: ["BenchmarkClients", "Floor"],
            swiftSettings: settings
        ),
        // What nginx has not: responses that stay open, and a sink for uploads.
        .executableTarget(name: "bench-peer"),
        // Runs a foreign program on one core and tells what it cost.
        .executableTarget(name: "bench-launch"),
    ],
    swiftLanguageModes: [.v6]
)
