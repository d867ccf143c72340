// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "URLSessionOnly",
    dependencies: [.package(name: "network-stack", path: "../../..")],
    targets: [
        .executableTarget(
            name: "URLSessionOnly",
            dependencies: [.product(name: "URLSessionStack", package: "network-stack")],
            path: "Sources"
        )
    ],
    swiftLanguageModes: [.v6]
)
