// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "CurlOnly",
    dependencies: [.package(name: "network-stack", path: "../../..")],
    targets: [
        .executableTarget(
            name: "CurlOnly",
            dependencies: [.product(name: "CurlStack", package: "network-stack")],
            path: "Sources"
        )
    ],
    swiftLanguageModes: [.v6]
)
