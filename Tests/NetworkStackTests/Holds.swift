import Testing

/// Expects a condition that the macro cannot: an expression that mutates its value.
func holds(_ condition: Bool, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(condition, comment, sourceLocation: sourceLocation)
}

/// Requires the value of an expression that mutates its operand.
func needed<Value>(_ value: Value?, sourceLocation: SourceLocation = #_sourceLocation) throws -> Value {
    try #require(value, sourceLocation: sourceLocation)
}
