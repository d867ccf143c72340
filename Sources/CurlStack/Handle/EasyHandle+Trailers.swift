internal import CCurl

extension EasyHandle {
    /// Has libcurl ask for the fields that follow the content, or not. It forgets that by itself once it has asked.
    ///
    /// - Parameter wanted: Whether there are such fields.
    /// - Throws: ``RefusedOption``.
    func sendTrailers(_ wanted: Bool) throws(RefusedOption) {
        let context = unsafe wanted ? Unmanaged.passUnretained(self).toOpaque() : nil
        unsafe shim_easy_set_pointer(pointer, CURLOPT_TRAILERDATA, context)
        try RefusedOption.check(
            unsafe shim_easy_set_trailer_function(pointer, wanted ? Callbacks.trailers : nil)
        )
    }
}
