internal import CCurl

extension EasyHandle {
    /// Has libcurl ask for the fields that follow the content, or not. It forgets that by itself once it has asked.
    ///
    /// - Parameter wanted: Whether there are such fields.
    /// - Returns: The first code that is not `CURLE_OK`, if any option was refused.
    func sendTrailers(_ wanted: Bool) -> CURLcode {
        let context = unsafe wanted ? Unmanaged.passUnretained(self).toOpaque() : nil
        unsafe shim_easy_set_pointer(pointer, CURLOPT_TRAILERDATA, context)
        return unsafe shim_easy_set_trailer_function(pointer, wanted ? Callbacks.trailers : nil)
    }
}
