import { parseSync } from "oxc-parser";
import { isSyntaxNode } from "../../server/test/architecture/syntax-node.ts";

const functions = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/** The TypeScript source with a call of `reportExecution(file, offset)` at the start of every function's body. */
export function instrument(path: string, text: string, file: number): string {
  const edits: { readonly at: number; readonly text: string }[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const each of value) visit(each);
    if (!isSyntaxNode(value)) return;
    if (functions.has(value.type) && isSyntaxNode(value["body"])) {
      const { body } = value;
      const report = `reportExecution(${file},${body.start})`;
      if (body.type === "BlockStatement" || body.type === "FunctionBody") {
        edits.push({ at: body.start + 1, text: `${report};` });
      } else {
        edits.push({ at: body.start, text: `(${report},(` });
        edits.push({ at: body.end, text: "))" });
      }
    }
    for (const [name, member] of Object.entries(value)) if (name !== "type") visit(member);
  };
  visit(parseSync(path, text).program);
  let result = text;
  // From the end on, so that earlier offsets stay true; at one offset what was found later lies inside.
  for (const { at, text: inserted } of sorted(edits)) result = result.slice(0, at) + inserted + result.slice(at);
  return result;
}

function sorted<T extends { readonly at: number }>(edits: readonly T[]): T[] {
  return edits
    .map((edit, index) => ({ edit, index }))
    .toSorted((a, b) => b.edit.at - a.edit.at || b.index - a.index)
    .map(({ edit }) => edit);
}
