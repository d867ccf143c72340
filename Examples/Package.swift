// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "network-stack-examples",
    dependencies: [.package(name: "network-stack", path: "..")],
    targets: [
        .executableTarget(
            name: "demo",
            dependencies: [
                .product(name: "NetworkStack", package: "network-stack"),
                .product(name: "CurlStack", package: "network-stack"),
                .product(name: "URLSessionStack", package: "network-stack"),
                .product(name: "NetworkStackTesting", package: "network-stack"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
