/** A node of the syntax tree that oxc-parser gives. Its members depend on its type, and are checked when read. */
export interface SyntaxNode {
  readonly type: string;
  /** Where its text begins and ends, in characters of the file. */
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

export const isSyntaxNode = (value: unknown): value is SyntaxNode =>
  typeof value === "object" && value !== null && "type" in value && "start" in value;
