// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Vocabulary",
    dependencies: [.package(name: "network-stack", path: "../../..")],
    targets: [
        .executableTarget(
            name: "Vocabulary",
            dependencies: [.product(name: "NetworkStack", package: "network-stack")],
            path: "Sources"
        )
    ],
    swiftLanguageModes: [.v6]
)
