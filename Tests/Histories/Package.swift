// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that the parsers alone are built for speed. `Sources/Histories` is the tests' folder of that name.
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
