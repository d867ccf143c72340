import FoundationEssentials

/// One text in every coding, made with zlib, libbrotli and zstd, and a bomb.
enum Compressed {
    /// The text before compression, 2330 bytes.
    static let text = Array((0..<60).map { "\($0) green bottles hanging on the wall, \n" }.joined().utf8)

    static let byCoding = ["gzip": gzip, "deflate": deflate, "br": br, "zstd": zstd]

    static let gzip = bytes(
        "H4sIAAAAAAACA43Vy2nEQBRFwb2j6AC8mPfzJ5wxCI1BaMAWOH2nUPuzukX3u639Z9vO9fW8rmP7XY/7uX+f+3qe63ps6+9+"
            + "HK/rJahKqoqqpmqoeqPqnaoPqj5t1Ztltn7Y/GH7hwGECYQRhBmEIYQppCkkvgFTSFNIU0hTSFNIU0hTSFMoUyhTKPyKTKFM"
            + "oUyhTKFMoUyhTKFNoU2hTaHxIphCm0KbQptCm0KbwpjCmMKYwpjC4GE2hTGFMYUxhTGFf+TP9H4aCQAA"
    )

    /// In the zlib format, as the coding is defined.
    static let deflate = bytes(
        "eNqN1ctpxEAURcG9o+gAvJj38yecMQiNQWjAFjh9p1D7s7pF97ut/WfbzvX1vK5j+12P+7l/n/t6nut6bOvvfhyv6yWoSqqK"
            + "qqZqqHqj6p2qD6o+bdWbZbZ+2Pxh+4cBhAmEEYQZhCGEKaQpJL4BU0hTSFNIU0hTSFNIU0hTKFMoUyj8ikyhTKFMoUyhTKFM"
            + "oUyhTaFNoU2h8SKYQptCm0KbQptCm8KYwpjCmMKYwuBhNoUxhTGFMYUxhX8Xqxa6"
    )

    static let br = bytes(
        "GxkJ4B0JdkzOiPnAmX2ESteDYax2EQp6w+tdv/ehNEpzgAU7ALrhq8SeWChFrhekVcyZa/iI/Z88lIstYtVQvhugOru6e3r7"
            + "9ut/A8UvAEAgYBBQsOD6DzgAgEDAIKBgwfUfaAAAgYBBQMGC6z/wAAACAYOAggXXf5ABAAQCBgEFC64/"
    )

    static let zstd = bytes(
        "KLUv/QBojQMAEsYREaA9sPLE5g9V97aWlHDZn00Y///////u7u7u7t3d3d3dzMzMzMy7u7u7u6aQ8d68QENrZ2paUt1T5Zhy"
            + "Z2lMTcqH1KUElYo7pBHg7/8bsDNKByHv7/29v/fnxETEwzXsQhLuYAsycAEB4M8lWwU="
    )

    /// The text a hundred times.
    static let longBr = bytes(
        "UyeOA0Ds95vdkh7d4C1Hiwoy4KNBQSzwBKCPS9GLh1YAGNOIGUcP2iXJdGeolm+1Pd/X9rfO9T6u+6gn8Z//a2t9dUju3LV7zz7u"
            + "0z7vS4EBLggggAACCCCAAAIABAQEBAQEBAQEBAICAgICAgICAgIGBgYGBgYGBgYGAQEBAQEBAQEB+ZH5Bq4j"
    )

    /// The text a hundred times.
    static let longZstd = bytes(
        "KLUv/QRo7AMAEsYREaA9sPLE5g9V97aWlHDZn00Y///////u7u7u7t3d3d3dzMzMzMy7u7u7u6aQ8d68QENrZ2paUt1T5ZhyZ2lM"
            + "TcqH1KUElYo8qCH8+v8GoDNKrgER/P+//v534/Yd6f//+///9+/ERuThGmphE3JwBTWwARHQo0v2rwJVAAAAAQAljrP9uQYCZM+U"
            + "Uw=="
    )

    /// `gzip` within stored blocks of another gzip.
    static let gzipOfGzip = bytes(
        "H4sIAAAAAAAEAwHMADP/H4sIAAAAAAACA43Vy2nEQBRFwb2j6AC8mPfzJ5wxCI1BaMAWOH2nUPuzukX3u639Z9vO9fW8rmP7"
            + "XY/7uX+f+3qe63ps6+9+HK/rJahKqoqqpmqoeqPqnaoPqj5t1Ztltn7Y/GH7hwGECYQRhBmEIYQppCkkvgFTSFNIU0hTSFNI"
            + "U0hTSFMoUyhTKPyKTKFMoUyhTKFMoUyhTKFNoU2hTaHxIphCm0KbQptCm0KbwpjCmMKYwpjC4GE2hTGFMYUxhTGFf+TP9H4a"
            + "CQAAglkhoswAAAA="
    )

    /// A megabyte of zeros in 1051 bytes of gzip.
    static let bomb =
        bytes("H4sIAAAAAAACA+3BMQEAAADCoPVPbQhfoA==") + Array(repeating: 0, count: 1016) + bytes("PgMc6jinAAAQAA==")
    static let bombSize = 1 << 20

    /// A gibibyte of zeros in zstd, in zstd.
    static let zstdOfZstdBomb = bytes("KLUv/WATfz0BAPgotS/9gFgAAABAVAAAEAAAAQD7/znAAgIAEAADABAAAQDH//Y7Bg==")
    /// A hundred and twenty gibibytes of zeros in zstd, in zstd.
    static let zstdOfLargerZstdBomb = bytes(
        "KLUv/aAJCT0AlAAAUCi1L/0AYAIAEAABAPP/8osERAAAAAEA/f/yCwREAAAAAQD9/zkAAkQAAAABAP3/OQACRAAAAAEA/f85AAJE"
            + "AAAAAQD9/zkAAkQAAAABAP3/OQACRAAAAAEA/f85AAJEAAAAAQD9/zkAAkQAAAABAP3/OQACRAAAAAEA/f85AAJEAAAAAQD9/zkA"
            + "AkQAAAABAP3/OQACRAAAAAEA/f85AAJEAAAAAQD9/zkAAkQAAAABAP3/OQACRAAAAAEA/f85AAJEAAAAAQD9/zkAAkQAAAABAP3/"
            + "OQACRAAAAAEA/f85AAJEAAAAAQD9/zkAAkQAAAABAP3/OQACRAAAAAEA/f85AAJEAAAAAQD9/zkAAkQAAAABAP3/OQACRAAAAAEA"
            + "/f85AAJEAAAAAQD9/zkAAkQAAAABAP3/OQACRAAAAAEA/f85AAJEAAAAAQD9/zkAAl0AABgBAAABAAMJOQAC"
    )

    /// An empty text after some hundred gibibytes in skippable frames, in zstd, in zstd, in zstd.
    static let emptyZstdBomb = bytes(
        "KLUv/aAQQAQAJAoA8g03LjBZBzXWt9ABOIyB5L6hfm8iofy3ANA1m0rlv1LKAUdjC/njRHOmzlcLgk3kTgF8UbQe/33Kf18pA7jr"
            + "bmEPQypTLNvPFm26HX3P71i2ezy6dOI0n9+xbHuMNMnCJDy/Y9mGo/SoIPo8vzWyue43644JaC9DUXFNgtDUwAaYJTBWUWmIgp/f"
            + "y2YgSODZP7bzf5t6kVq100wduPH/rqg45y5NHuZMjeB+55ueE3au82RqCOwBs/8tXxS72X+/80/8o2CkrLv897/zbhdqO3QeoH/M"
            + "6IH/1dqPthGiIyUgQCXIKLfgGPt3BYjMPLHiMvqoaEuNn/IuzJyan/UuzKAaP+VdmEk1P3sXzOZ/Ratq/S9hYWbV+o9DizTmQZc4"
            + "3EXAADTGA46I/4UAE4DG9GDfAWvIlWoMREBoLIevqOjYK5sDXAAAAAIAq/Ygh6f4AAhVAAAAAgCpGPAQ9g+A"
    )

    /// `x` in gzip, with a mebibyte of zeros after it, in zstd.
    static let paddedGzip = bytes(
        "KLUv/aAVABAA3AAAmB+LCAAAAAAAAgOrAACDFtyMAQABANX/cxAGAgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAKsAAAA="
    )

    /// The head of another gzip member, with flags that mean nothing.
    static let corruptMember: [UInt8] = [0x1F, 0x8B, 8, 0xE0] + Array(repeating: 0xFF, count: 60)

    private static func bytes(_ text: String) -> [UInt8] { Array(Data(base64Encoded: text) ?? Data()) }
}
