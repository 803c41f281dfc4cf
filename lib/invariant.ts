/** A statement about this program's own state that does not hold: a defect, never the fault of a caller. */
export class InvariantError extends Error {
  override readonly name = "InvariantError";
}

/**
 * Asserts what must be true, also in production: a breach would lose money, data or isolation, so the work that met it
 * must not go on. `message` states what was expected and holds no secrets; it is a constant, since it is evaluated on
 * each call.
 *
 * @throws {InvariantError} when the condition is false.
 */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}
