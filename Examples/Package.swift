// swift-tools-version: 6.2
import PackageDescription

// What every program here depends on: the protocols, and both backends.
let stacks: [Target.Dependency] = [
    .product(name: "NetworkStack", package: "network-stack"),
    .product(name: "CurlStack", package: "network-stack"),
    .product(name: "URLSessionStack", package: "network-stack"),
]
// What programs depend on that start a server.
let served: [Target.Dependency] =
    stacks + ["ExampleSupport", .product(name: "NetworkStackTesting", package: "network-stack")]

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
            dependencies: stacks + [.product(name: "NetworkStackTesting", package: "network-stack")]
        ),
        .executableTarget(
            name: "netfetch",
            dependencies: stacks + ["CDigest", .product(name: "ArgumentParser", package: "swift-argument-parser")]
        ),
        .systemLibrary(
            name: "CDigest",
            pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
        ),
        .target(name: "ExampleSupport", dependencies: stacks),
        .executableTarget(name: "github", dependencies: served),
        .executableTarget(
            name: "users",
            dependencies: served,
            resources: [.copy("Mocks/users.json"), .copy("Mocks/user.json")]
        ),
        .executableTarget(name: "accounts", dependencies: served),
        .executableTarget(name: "rest", dependencies: served),
        // Code written for Alicerce: it compiles.
        .executableTarget(name: "alicerce-sample", dependencies: stacks),
        // A program for URLSession and one for AsyncHTTPClient, moved: the originals are in ported/.
        .executableTarget(name: "mirror-urlsession", dependencies: stacks),
        .executableTarget(name: "mirror-asynchttpclient", dependencies: stacks),
    ],
    swiftLanguageModes: [.v6]
)
