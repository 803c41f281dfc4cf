/** Mutants of a source file: single changes that a test should notice. */
import { parseSync } from "oxc-parser";
import { isSyntaxNode, type SyntaxNode } from "../../server/test/architecture/syntax-node.ts";

export interface Mutant {
  /** Path from the repository's root. */
  readonly path: string;
  readonly line: number;
  /** The line's text, without white space around it. */
  readonly source: string;
  /** What was changed, such as `=== to !==`. */
  readonly change: string;
  /** The changed part before and after, in characters of the file. */
  readonly start: number;
  readonly end: number;
  readonly before: string;
  readonly after: string;
}

const swapped: Readonly<Record<string, string>> = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "+": "-",
  "-": "+",
  "*": "/",
  "&&": "||",
  "||": "&&",
};

/** Calls that report and change nothing: logs, metrics, and assertions of what is true anyway. */
const reporting =
  /^(?:this\.)?(?:#?\w+\.)*(?:log|#log|events|#events|families|console)\.|^invariant\(|^super\(|\.(?:unref|inc|observe)\(/;

/** Whether it is `list[at] ?? 0`. */
function isElementDefault({ type, operator, left, right }: SyntaxNode): boolean {
  if (type !== "LogicalExpression" || operator !== "??" || !isSyntaxNode(left) || !isSyntaxNode(right)) return false;
  return left.type === "MemberExpression" && left["computed"] === true && typeof right["value"] === "number";
}

/** All mutants of a file, in the order of its text. */
export function mutantsOf(path: string, text: string): Mutant[] {
  const found: Mutant[] = [];
  const lines = text.split("\n");
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const lineOf = (offset: number): number => starts.findLastIndex((start) => start <= offset) + 1;
  const add = (change: string, start: number, end: number, after: string): void => {
    const line = lineOf(start);
    const source = (lines[line - 1] ?? "").trim();
    found.push({ path, line, source, change, start, end, before: text.slice(start, end), after });
  };
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const each of value) visit(each);
    if (!isSyntaxNode(value)) return;
    // Types are gone when the code runs.
    if (value.type.startsWith("TS") && value.type !== "TSAsExpression" && value.type !== "TSNonNullExpression") return;
    // An assertion holds whatever the program does, so no test can miss it.
    if (value.type === "CallExpression" && text.startsWith("invariant(", value.start)) return;
    // An element that is always there has a default for the compiler alone.
    const isForTypes = isElementDefault(value);
    mutate(value, text, add);
    for (const [member, child] of Object.entries(value)) {
      if (member !== "type" && !(isForTypes && member === "right")) visit(child);
    }
  };
  const { program, errors } = parseSync(path, text, { sourceType: "module" });
  if (errors[0] !== undefined) throw new SyntaxError(`${path}: ${errors[0].message}`);
  visit(program);
  return found;
}

type Add = (change: string, start: number, end: number, after: string) => void;

function mutate(node: SyntaxNode, text: string, add: Add): void {
  const source = (part: SyntaxNode): string => text.slice(part.start, part.end);
  switch (node.type) {
    case "BinaryExpression":
    case "LogicalExpression":
      swapOperator(node, text, add);
      break;
    case "IfStatement":
    case "ConditionalExpression": {
      const test = node["test"];
      // A comparison alone is negated by its operator already.
      if (isSyntaxNode(test) && test.type !== "BinaryExpression") {
        add("condition negated", test.start, test.end, `!(${source(test)})`);
      }
      break;
    }
    case "ExpressionStatement":
      removeCall(node, text, add);
      break;
    case "CatchClause": {
      const body = node["body"];
      if (isSyntaxNode(body) && Array.isArray(body["body"]) && body["body"].length > 0)
        add("catch emptied", body.start, body.end, "{}");
      break;
    }
    case "ReturnStatement": {
      const argument = node["argument"];
      if (isSyntaxNode(argument) && argument.type === "Literal" && typeof argument["value"] === "boolean") {
        add("returned boolean turned over", argument.start, argument.end, String(!argument["value"]));
      }
      break;
    }
    case "Literal":
      if (node["value"] === 0) add("0 to 1", node.start, node.end, "1");
      else if (node["value"] === 1) add("1 to 0", node.start, node.end, "0");
      break;
    default:
  }
}

function swapOperator(node: SyntaxNode, text: string, add: Add): void {
  const { left, right, operator } = node;
  if (!isSyntaxNode(left) || !isSyntaxNode(right)) return;
  const after = swapped[String(operator)];
  const isText = [left, right].some((side) => side.type === "TemplateLiteral" || typeof side["value"] === "string");
  if (after === undefined || ("+-*".includes(String(operator)) && isText)) return;
  const start = left.end + text.slice(left.end, right.start).indexOf(String(operator));
  add(`${operator} to ${after}`, start, start + String(operator).length, after);
}

function removeCall(node: SyntaxNode, text: string, add: Add): void {
  const { expression } = node;
  if (!isSyntaxNode(expression)) return;
  const awaited =
    expression.type === "AwaitExpression" && isSyntaxNode(expression["argument"]) ? expression["argument"] : null;
  const call = awaited ?? expression;
  const source = text.slice(call.start, call.end);
  if (call.type !== "CallExpression" || reporting.test(source)) return;
  add("call removed", node.start, node.end, ";");
  if (awaited !== null) add("await dropped", expression.start, expression.end, `void ${source}`);
}

/** The text with the mutant in it. */
export function applied(text: string, { start, end, after }: Mutant): string {
  return text.slice(0, start) + after + text.slice(end);
}
