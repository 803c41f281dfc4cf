/**
 * The version of what the parsers make of a transaction. It rises with each change after which a transaction may be
 * told otherwise (type, source, facts, sentence), so that what was told by older ones is parsed again. What each one
 * tells of the same transactions is recorded (testing/told-versions.json): a change without a new version fails.
 */
export const parserVersion = 3;
