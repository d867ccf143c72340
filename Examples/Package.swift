// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "network-stack-examples",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "netfetch", targets: ["netfetch"])],
    dependencies: [
        .package(name: "network-stack", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .executableTarget(
            name: "demo",
            dependencies: [
                .product(name: "NetworkStack", package: "network-stack"),
                .product(name: "CurlStack", package: "network-stack"),
                .product(name: "URLSessionStack", package: "network-stack"),
                .product(name: "NetworkStackTesting", package: "network-stack"),
            ]
        ),
        .executableTarget(
            name: "netfetch",
            dependencies: [
                .product(name: "NetworkStack", package: "network-stack"),
                .product(name: "CurlStack", package: "network-stack"),
                .product(name: "URLSessionStack", package: "network-stack"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
