/** Facts of a TypeScript file that rules are about, read from its syntax tree. */
import { parseSync } from "oxc-parser";
import { isSyntaxNode, type SyntaxNode } from "./syntax-node.ts";

export interface SourceFile {
  /** Path from the repository's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

export interface ImportStatement {
  readonly specifier: string;
  readonly line: number;
}

export interface FunctionSpan {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
  /** Positional parameters, without a `this` type. */
  readonly parameters: number;
}

/** An exported declaration of the file itself, not a re-export. */
export interface ExportedDeclaration {
  readonly name: string;
  readonly line: number;
  readonly kind: "type" | "value";
  /** Members and their types without comments and white space; null unless it is an interface or an object type. */
  readonly shape: string | null;
}

export interface SourceFacts {
  readonly path: string;
  readonly text: string;
  readonly lines: number;
  readonly imports: readonly ImportStatement[];
  readonly functions: readonly FunctionSpan[];
  readonly exported: readonly ExportedDeclaration[];
  /** Names that are called, constructed or read as members, such as "setTimeout", "new Date" or "process.env". */
  readonly uses: readonly { readonly name: string; readonly line: number }[];
  /** Names of variables that are declared. */
  readonly variables: readonly { readonly name: string; readonly line: number }[];
  /** The lines that each comment covers. */
  readonly comments: readonly { readonly first: number; readonly last: number }[];
}

const functionTypes = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/** Reads a file. @throws {SyntaxError} when it cannot be parsed. */
export function factsOf({ path, text }: SourceFile): SourceFacts {
  const { program, module, comments, errors } = parseSync(path, text, { sourceType: "module" });
  if (errors[0] !== undefined) throw new SyntaxError(`${path}: ${errors[0].message}`);
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const lineOf = (offset: number): number => lineAt(starts, offset);
  const reader = new Reader(text, lineOf);
  reader.visit(program, "");
  const imports = [...module.staticImports, ...module.staticExports.flatMap(({ entries }) => entries)].flatMap(
    (each) => (each.moduleRequest === null ? [] : [{ specifier: each.moduleRequest.value, line: lineOf(each.start) }]),
  );
  return {
    path,
    text,
    lines: text.trimEnd().split("\n").length,
    imports: unique([...imports, ...reader.imports]),
    functions: reader.functions,
    exported: exportedBy(program, text, lineOf),
    uses: reader.uses,
    variables: reader.variables,
    comments: comments.map(({ start, end }) => ({ first: lineOf(start), last: lineOf(end - 1) })),
  };
}

function lineAt(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return low + 1;
}

function unique(imports: readonly ImportStatement[]): ImportStatement[] {
  return [...new Map(imports.map((each) => [`${each.specifier} ${each.line}`, each])).values()];
}

class Reader {
  readonly imports: ImportStatement[] = [];
  readonly functions: FunctionSpan[] = [];
  readonly uses: { readonly name: string; readonly line: number }[] = [];
  readonly variables: { readonly name: string; readonly line: number }[] = [];
  readonly #text: string;
  readonly #lineOf: (offset: number) => number;

  constructor(text: string, lineOf: (offset: number) => number) {
    this.#text = text;
    this.#lineOf = lineOf;
  }

  /** `name` is that of the declaration around an anonymous function. */
  visit(value: unknown, name: string): void {
    if (Array.isArray(value)) for (const each of value) this.visit(each, name);
    if (!isSyntaxNode(value)) return;
    const named = nameOf(value) ?? name;
    this.#read(value, named);
    for (const [member, child] of Object.entries(value)) if (member !== "type") this.visit(child, named);
  }

  #read(node: SyntaxNode, name: string): void {
    const line = this.#lineOf(node.start);
    if (functionTypes.has(node.type) && isSyntaxNode(node["body"])) this.#readFunction(node, name, node["body"]);
    else if (node.type === "VariableDeclarator" && isSyntaxNode(node["id"]) && node["id"].type === "Identifier") {
      this.variables.push({ name: String(node["id"]["name"]), line });
    } else if (node.type === "MemberExpression") {
      const used = dotted(node);
      if (used !== null) this.uses.push({ name: used, line });
    } else if (node.type === "CallExpression" || node.type === "NewExpression") this.#readCall(node, line);
    else if (node.type === "ImportExpression") this.#readSpecifier(node["source"], line);
  }

  #readFunction(node: SyntaxNode, name: string, body: SyntaxNode): void {
    const parameters = Array.isArray(node["params"]) ? node["params"].filter(isSyntaxNode) : [];
    const [first, last] = [this.#lineOf(body.start), this.#lineOf(body.end - 1)];
    const positional = parameters.filter((each) => each["name"] !== "this").length;
    this.functions.push({ name, line: first, lines: last - first + 1, parameters: positional });
  }

  #readCall(node: SyntaxNode, line: number): void {
    const callee = node["callee"];
    const args = Array.isArray(node["arguments"]) ? node["arguments"] : [];
    if (!isSyntaxNode(callee)) return;
    const name = callee.type === "Identifier" ? String(callee["name"]) : null;
    if (node.type === "NewExpression") {
      if (name !== null)
        this.uses.push({ name: name === "Date" && args.length > 0 ? "new Date(at)" : `new ${name}`, line });
      // Files that another process or a worker runs are named by their URL beside the module.
      if (name === "URL" && this.#text.slice(node.start, node.end).includes("import.meta.url")) {
        this.#readSpecifier(args[0], line);
      }
      return;
    }
    if (name !== null) this.uses.push({ name, line });
    const text = this.#text.slice(callee.start, callee.end);
    if (/^(require|require\.resolve|import\.meta\.resolve)$/.test(text)) this.#readSpecifier(args[0], line);
  }

  #readSpecifier(argument: unknown, line: number): void {
    if (isSyntaxNode(argument) && argument.type === "Literal" && typeof argument["value"] === "string") {
      this.imports.push({ specifier: argument["value"], line });
    }
  }
}

/** What a declaration, a property or a method is called. */
function nameOf(node: SyntaxNode): string | null {
  const holder =
    node["key"] ?? (node.type === "VariableDeclarator" || node.type === "FunctionDeclaration" ? node["id"] : null);
  return isSyntaxNode(holder) && typeof holder["name"] === "string" ? holder["name"] : null;
}

/** "a.b" for a member of a plain name. */
function dotted(node: SyntaxNode): string | null {
  const { object, property } = node;
  if (!isSyntaxNode(object) || !isSyntaxNode(property) || node["computed"] === true) return null;
  return object.type === "Identifier" ? `${object["name"]}.${property["name"]}` : null;
}

function exportedBy(program: unknown, text: string, lineOf: (offset: number) => number): ExportedDeclaration[] {
  const body = isSyntaxNode(program) && Array.isArray(program["body"]) ? program["body"].filter(isSyntaxNode) : [];
  return body.flatMap((statement): ExportedDeclaration[] => {
    const { declaration } = statement;
    if (statement.type !== "ExportNamedDeclaration" || !isSyntaxNode(declaration)) return [];
    const line = lineOf(statement.start);
    if (declaration.type === "VariableDeclaration" && Array.isArray(declaration["declarations"])) {
      return declaration["declarations"]
        .filter(isSyntaxNode)
        .flatMap(({ id }) =>
          isSyntaxNode(id) && typeof id["name"] === "string"
            ? [{ name: id["name"], line, kind: "value" as const, shape: null }]
            : [],
        );
    }
    const id = declaration["id"];
    if (!isSyntaxNode(id) || typeof id["name"] !== "string") return [];
    const isType = declaration.type === "TSInterfaceDeclaration" || declaration.type === "TSTypeAliasDeclaration";
    return [
      { name: id["name"], line, kind: isType ? "type" : "value", shape: isType ? shapeOf(declaration, text) : null },
    ];
  });
}

function shapeOf(declaration: SyntaxNode, text: string): string | null {
  const object = declaration.type === "TSInterfaceDeclaration" ? declaration["body"] : declaration["typeAnnotation"];
  if (!isSyntaxNode(object) || (object.type !== "TSInterfaceBody" && object.type !== "TSTypeLiteral")) return null;
  const members = Array.isArray(object["body"] ?? object["members"]) ? (object["body"] ?? object["members"]) : [];
  const texts = (members as unknown[])
    .filter(isSyntaxNode)
    .map(({ start, end }) => withoutComments(text.slice(start, end)));
  const inherits = Array.isArray(declaration["extends"]) && declaration["extends"].length > 0;
  return texts.length === 0 || inherits ? null : texts.toSorted().join(";");
}

const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "").replace(/\breadonly\b|\s|;$|,$/g, "");
