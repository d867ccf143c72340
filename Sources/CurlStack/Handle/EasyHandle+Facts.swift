internal import CCurl

/// What libcurl reports of a transfer (`curl_easy_getinfo`).
extension EasyHandle {
    func fact(_ info: CURLINFO) -> Int {
        var value = 0
        unsafe shim_easy_get_long(pointer, info, &value)
        return value
    }

    func fact(offset info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        unsafe shim_easy_get_offset(pointer, info, &value)
        return Int64(value)
    }

    func fact(text info: CURLINFO) -> String? {
        var value: UnsafePointer<CChar>?
        unsafe shim_easy_get_string(pointer, info, &value)
        return unsafe value.map { unsafe String(cString: $0) }
    }
}
