import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { type Comment, parseSync } from "oxc-parser";
import { isSyntaxNode, type SyntaxNode } from "../server/test/architecture/syntax-node.ts";

/**
 * Public declarations are documented: every exported declaration of contract, sdk and wire has a docstring, and
 * every exported function, and every public method of an exported class, that has a `throw` has `@throws` in its
 * docstring. A type that is derived from a documented constant by `typeof` has the constant's; a schema may have the
 * description of its `.meta`, which OpenAPI shows, in the place of a docstring.
 */

const root = join(import.meta.dir, "..");
const workspaces = ["contract", "sdk", "wire"];

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  return Object.values(node).flatMap((value) => (Array.isArray(value) ? value : [value]).filter(isSyntaxNode));
}

/** Whether a body has its own `throw`; those of functions inside of it do not count. */
function throws(node: SyntaxNode): boolean {
  if (node.type === "ThrowStatement") return true;
  if (/Function|^Class/.test(node.type)) return false;
  return childrenOf(node).some(throws);
}

function bodyOf(node: SyntaxNode): SyntaxNode | null {
  const { body } = node;
  return isSyntaxNode(body) ? body : null;
}

interface Source {
  readonly text: string;
  readonly comments: readonly Comment[];
}

function docstringBefore(start: number, { text, comments }: Source): string | null {
  const before = comments.findLast((comment) => comment.end <= start);
  if (before?.type !== "Block" || !before.value.startsWith("*")) return null;
  return text.slice(before.end, start).trim() === "" ? before.value : null;
}

/** Whether a constant is a schema that ends in `.meta({ description: ... })`. */
function isDescribedSchema(node: SyntaxNode): boolean {
  const { init } = node;
  if (!isSyntaxNode(init) || init.type !== "CallExpression") return false;
  const { callee } = init;
  const property = isSyntaxNode(callee) ? callee["property"] : null;
  if (!isSyntaxNode(property) || property["name"] !== "meta") return false;
  return childrenOf(init).some(
    (argument) =>
      argument.type === "ObjectExpression" &&
      childrenOf(argument).some(({ key }) => isSyntaxNode(key) && key["name"] === "description"),
  );
}

interface Declared {
  readonly name: string;
  readonly start: number;
  readonly node: SyntaxNode;
}

/** The declarations of one export statement: one for each name. */
function declarationsOf(statement: SyntaxNode): Declared[] {
  const { declaration } = statement;
  if (!isSyntaxNode(declaration)) return [];
  const named = declaration.type === "VariableDeclaration" ? childrenOf(declaration) : [declaration];
  return named.map((node) => ({ name: nameOf(node), start: statement.start, node }));
}

const nameOf = (node: SyntaxNode): string => {
  const { id, key } = node;
  const name = isSyntaxNode(id) ? id["name"] : isSyntaxNode(key) ? key["name"] : null;
  return typeof name === "string" ? name : "?";
};

/** The function that a declaration is, or that its constant holds. */
function functionOf(node: SyntaxNode): SyntaxNode | null {
  const { init } = node;
  const held = node.type === "VariableDeclarator" && isSyntaxNode(init) ? init : node;
  return /Function/.test(held.type) ? held : null;
}

/** Public methods, getters and constructors, with what their own body throws. */
function methodsOf(node: SyntaxNode): Declared[] {
  const body = /^Class/.test(node.type) ? bodyOf(node) : null;
  if (body === null) return [];
  return childrenOf(body).flatMap((member) => {
    const { key, value, accessibility } = member;
    const isPublic = isSyntaxNode(key) && key.type !== "PrivateIdentifier" && accessibility !== "private";
    return isPublic && member.type === "MethodDefinition" && isSyntaxNode(value)
      ? [{ name: `${nameOf(node)}.${nameOf(member)}`, start: member.start, node: value }]
      : [];
  });
}

const typeofPattern = /\btypeof (\w+)/g;

/** The missing documentation of one file's exports, as "name: what". */
function lacking(path: string, text: string): string[] {
  const { program, comments } = parseSync(path, text);
  const source = { text, comments };
  const found: string[] = [];
  const documented = new Set<string>();
  for (const statement of childrenOf(program as unknown as SyntaxNode)) {
    if (statement.type === "VariableDeclaration") {
      for (const node of childrenOf(statement)) if (isDescribedSchema(node)) documented.add(nameOf(node));
    }
    if (statement.type !== "ExportNamedDeclaration") continue;
    for (const { name, start, node } of declarationsOf(statement)) {
      const docstring = docstringBefore(start, source);
      const derivedFrom = [...text.slice(node.start, node.end).matchAll(typeofPattern)].map((match) => match[1] ?? "");
      const isDerived = node.type === "TSTypeAliasDeclaration" && derivedFrom.some((each) => documented.has(each));
      // Of an overloaded function the first signature has the docstring.
      const isDescribed = docstring !== null || isDerived || isDescribedSchema(node);
      if (!isDescribed && !documented.has(name)) found.push(`${name}: no docstring`);
      else documented.add(name);
      const own = functionOf(node);
      const throwing = own === null ? [] : [{ name, start, node: own }];
      for (const each of [...throwing, ...methodsOf(node)]) {
        const body = bodyOf(each.node);
        if (body === null || !throws(body)) continue;
        const text = docstringBefore(each.start, source) ?? "";
        if (!text.includes("@throws {")) found.push(`${each.name}: no @throws`);
      }
    }
  }
  return found;
}

const files = workspaces.flatMap((workspace) =>
  [...new Glob("**/*.ts").scanSync({ cwd: join(root, workspace) })]
    .filter((path) => !/node_modules|\.test\.ts$|\.campaign\.ts$|(^|\/)testing\//.test(path))
    .map((path) => `${workspace}/${path}`),
);

test("every export of contract, sdk and wire has a docstring, with what it throws", () => {
  expect(files.length).toBeGreaterThan(40);
  expect(
    files.flatMap((path) => lacking(path, readFileSync(join(root, path), "utf8")).map((each) => `${path}: ${each}`)),
  ).toEqual([]);
});

describe("the check sees", () => {
  const planted: Record<string, readonly [text: string, found: readonly string[]]> = {
    "an export without a docstring": ["export const a = 1;", ["a: no docstring"]],
    "a line comment in the place of a docstring": ["// a\nexport interface A {}", ["A: no docstring"]],
    "a docstring that belongs to another declaration": [
      "/** b */\nconst b = 1;\nexport type C = 1;",
      ["C: no docstring"],
    ],
    "a throw that is not documented": [
      "/** a */\nexport function a() { if (x) throw new Error(); }",
      ["a: no @throws"],
    ],
    "a throw of an arrow function": ["/** a */\nexport const a = () => { throw new Error(); };", ["a: no @throws"]],
    "a throw of a method": ["/** A */\nexport class A {\n  b() { throw new Error(); }\n}", ["A.b: no @throws"]],
    "no fault in a throw that is documented": [
      "/** @throws {Error} x */\nexport function a() { throw new Error(); }",
      [],
    ],
    "no fault in a type derived from a documented constant": [
      "/** a */\nexport const a = [1];\nexport type A = (typeof a)[0];",
      [],
    ],
    "a schema without a description": ['export const a = z.string().meta({ id: "A" });', ["a: no docstring"]],
    "no fault in a schema with one": ['export const a = z.string().meta({ description: "a" });', []],
    "no fault in a private method or an inner function": [
      "/** A */\nexport class A {\n  #b() { throw 1; }\n  c() { return () => { throw 1; }; }\n}",
      [],
    ],
    "no fault in what is not exported": ["function a() { throw new Error(); }", []],
  };
  for (const [name, [text, found]] of Object.entries(planted)) {
    test(name, () => {
      expect(lacking("planted.ts", text)).toEqual([...found]);
    });
  }
});
