// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that only the parsers are built with optimisation. `Sources/Histories` is the tests' folder of that
// name.
let package = Package(
    name: "histories",
    dependencies: [.package(name: "network-stack", path: "../..")],
    targets: [
        .executableTarget(
            name: "histories",
            dependencies: [.product(name: "NetworkStack", package: "network-stack")],
            path: "Sources",
            swiftSettings: [.enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility")]
        )
    ],
    swiftLanguageModes: [.v6]
)
