// swift-tools-version: 6.2
import PackageDescription

// Warnings are errors in CI (flags in the Makefile), never in the manifest: a user's newer compiler must not fail on ours.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
]

// The doubles and the suite drive C servers and processes; they keep the language mode and the import rules, not the fence.
let testing: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// There is no 'platforms': it concerns Apple's systems alone, where nothing is tested. The package is known to build and pass its
// tests on Linux with glibc (Debian 12, x86-64). CurlStack needs libcurl 7.87 or newer with OpenSSL, and their headers.
let package = Package(
    name: "network-stack",
    products: [
        .library(name: "NetworkStack", targets: ["NetworkStack"]),
        .library(name: "CurlStack", targets: ["CurlStack"]),
        .library(name: "URLSessionStack", targets: ["URLSessionStack"]),
        .library(name: "NetworkStackTesting", targets: ["NetworkStackTesting"]),
        .library(name: "NetworkStackConformance", targets: ["NetworkStackConformance"]),
    ],
    targets: [
        .systemLibrary(
            name: "CCurl",
            pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]
        ),
        .systemLibrary(
            name: "COpenSSL",
            pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
        ),
        .target(name: "NetworkStack", swiftSettings: strict),
        .target(name: "CurlStack", dependencies: ["NetworkStack", "CCurl", "COpenSSL"], swiftSettings: strict),
        .target(name: "URLSessionStack", dependencies: ["NetworkStack"], swiftSettings: strict),
        .target(
            name: "NetworkStackTesting",
            dependencies: ["NetworkStack", "COpenSSL"],
            path: "Tests/NetworkStackTesting",
            swiftSettings: testing
        ),
        .target(
            name: "NetworkStackConformance",
            dependencies: ["NetworkStack", "NetworkStackTesting"],
            path: "Tests/NetworkStackConformance",
            swiftSettings: testing
        ),
        .testTarget(
            name: "NetworkStackTests",
            dependencies: ["NetworkStack", "NetworkStackTesting", "NetworkStackConformance"],
            swiftSettings: testing
        ),
        .testTarget(
            name: "CurlStackTests",
            dependencies: ["CurlStack", "CCurl", "NetworkStackTesting", "NetworkStackConformance"],
            swiftSettings: testing
        ),
        .testTarget(
            name: "NetworkStackConformanceTests",
            dependencies: ["CurlStack", "URLSessionStack", "NetworkStackTesting", "NetworkStackConformance"],
            swiftSettings: testing
        ),
        .testTarget(
            name: "URLSessionStackTests",
            dependencies: ["URLSessionStack", "CurlStack", "NetworkStackTesting", "NetworkStackConformance"],
            swiftSettings: testing
        ),
    ],
    swiftLanguageModes: [.v6]
)
