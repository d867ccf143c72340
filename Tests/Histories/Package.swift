// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that only this is built with optimisation. What it drives are the targets of the main package under
// links: histories use what is visible in their package alone.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
let sources = settings + [.enableUpcomingFeature("InternalImportsByDefault")]

let package = Package(
    name: "histories",
    targets: [
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl"),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl"),
        .target(name: "NetworkStack", swiftSettings: sources),
        .target(name: "CurlStack", dependencies: ["NetworkStack", "CCurl", "COpenSSL"], swiftSettings: sources),
        .target(
            name: "NetworkStackTesting",
            dependencies: ["NetworkStack"],
            sources: [
                "Record/History.swift", "Record/SeededRandom.swift", "Record/EventRecorder.swift",
                "Script/VirtualClock.swift", "Script/WaitTimedOut.swift",
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "histories",
            dependencies: ["NetworkStack", "CurlStack", "CCurl", "NetworkStackTesting"],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
