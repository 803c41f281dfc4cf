/** The engine's syntax tree of a statement, as EXPLAIN AST writes it: a node a line, a blank of indent a level. */

export interface SyntaxNode {
  /** Such as `Function` or `TableIdentifier`. */
  readonly kind: string;
  /** What follows the kind: a name, a literal; empty without one. */
  readonly text: string;
  readonly alias: string | null;
  readonly children: readonly SyntaxNode[];
}

const nodeForm = /^( *)([A-Za-z]+(?:::[A-Za-z]+)?)(?: +(.*?))??(?: \(alias ([^()]+)\))?(?: \(children (\d{1,6})\))?$/s;
const linesMax = 40_000;

interface OpenNode extends SyntaxNode {
  readonly children: SyntaxNode[];
  readonly expected: number;
}

/**
 * Reads the lines as a tree. Null unless they are one whole tree in which each node has as many children as it says: a
 * name with a line break in it could otherwise pass for a node.
 */
export function readSyntaxTree(lines: readonly string[]): SyntaxNode | null {
  if (lines.length === 0 || lines.length > linesMax) return null;
  const open: OpenNode[] = [];
  let root: OpenNode | null = null;
  for (const line of lines) {
    const found = nodeForm.exec(line);
    if (found === null) return null;
    const [, indent = "", kind = "", text = "", alias = null, children] = found;
    const depth = indent.length;
    if (depth > open.length || (depth === 0) !== (root === null)) return null;
    // A literal has no children, and its text may end like a count of them.
    const expected = kind === "Literal" ? 0 : Number(children ?? 0);
    const node: OpenNode = { kind, text, alias, children: [], expected };
    for (const ended of open.splice(depth)) if (ended.children.length !== ended.expected) return null;
    open.at(-1)?.children.push(node);
    root ??= node;
    open.push(node);
  }
  return open.every((node) => node.children.length === node.expected) ? root : null;
}
