import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { blank, functionsOf, importsOf, type SourceFile } from "./architecture/source.ts";
import { checkWalls, type Rule, sizeLimits } from "./architecture/walls.ts";

const root = join(import.meta.dir, "../..");
const workspaces = [
  "contract",
  "wire",
  "lib",
  "svm",
  "auction",
  "sdk",
  "console",
  "devnet",
  "server",
  "bench",
  "scripts",
];

/** Files that are started by name: processes, workspace doors, pages, and benchmarks. */
function isStartedByName(path: string): boolean {
  return (
    /^([a-z]+)\/index\.tsx?$/.test(path) ||
    /(^|\/)main\.tsx?$/.test(path) ||
    path.startsWith("bench/") ||
    path.endsWith(".generated.ts")
  );
}

function readSources(): SourceFile[] {
  return workspaces.flatMap((workspace) =>
    [...new Glob("**/*.{ts,tsx}").scanSync({ cwd: join(root, workspace) })]
      .filter((path) => !path.includes("node_modules") && !path.endsWith(".d.ts"))
      .map((path) => ({ path: `${workspace}/${path}`, text: readFileSync(join(root, workspace, path), "utf8") })),
  );
}

const sources = readSources();
const entries = new Set(sources.map((file) => file.path).filter(isStartedByName));

test("the house keeps its walls: layers, doors, drivers, clocks, sizes, no cycle, no dead file", () => {
  expect(sources.length).toBeGreaterThan(20);
  expect(checkWalls(sources, entries)).toEqual([]);
});

describe("the check sees a planted breach of each kind", () => {
  const index = { path: "server/src/config/index.ts", text: "/** config */\nexport {};\n" };
  const planted: Record<Exclude<Rule, "no-files">, SourceFile[]> = {
    layer: [
      { path: "server/src/http/index.ts", text: '/** http */\nexport { a } from "../keys/index.ts";\n' },
      { path: "server/src/keys/index.ts", text: "/** keys */\nexport const a = 1;\n" },
    ],
    "same-layer": [
      { path: "server/src/keys/index.ts", text: '/** keys */\nimport "../credits/index.ts";\n' },
      { path: "server/src/credits/index.ts", text: "/** credits */\n" },
    ],
    "side-door": [
      { path: "server/src/keys/index.ts", text: '/** keys */\nimport { b } from "../config/keys.ts";\n' },
      { path: "server/src/config/keys.ts", text: "export const b = 1;\n" },
    ],
    workspace: [{ path: "wire/index.ts", text: 'import "@sluice/contract";\n' }],
    driver: [{ path: "server/src/keys/index.ts", text: '/** keys */\nimport { Redis } from "ioredis";\n' }],
    serve: [{ path: "server/src/oracle/index.ts", text: "/** oracle */\nBun.serve({});\n" }],
    outbound: [{ path: "server/src/oracle/index.ts", text: '/** oracle */\nimport http from "node:http";\n' }],
    grpc: [{ path: "server/src/engine/index.ts", text: '/** engine */\nimport "@grpc/grpc-js";\n' }],
    environment: [{ path: "server/src/keys/index.ts", text: "/** keys */\nexport const a = process.env;\n" }],
    clock: [{ path: "server/src/keys/index.ts", text: "/** keys */\nexport const a = () => Date.now();\n" }],
    cycle: [
      { path: "server/src/keys/index.ts", text: '/** keys */\nimport "./a.ts";\n' },
      { path: "server/src/keys/a.ts", text: 'import "./index.ts";\n' },
    ],
    "dead-file": [{ path: "server/src/config/lonely.ts", text: "export const a = 1;\n" }],
    "file-size": [{ path: "wire/index.ts", text: "work();\n".repeat(sizeLimits.fileLines + 1) }],
    "function-size": [
      { path: "wire/index.ts", text: `export function long(): void {\n${"  work();\n".repeat(71)}}\n` },
    ],
    name: [{ path: "wire/utils.ts", text: "" }],
    "room-index": [{ path: "server/src/keys/a.ts", text: "" }],
  };
  for (const [rule, files] of Object.entries(planted)) {
    test(rule, () => {
      const found = checkWalls([index, ...files], new Set(["server/src/keys/index.ts"])).map((each) => each.rule);
      expect(found).toContain(rule as Rule);
    });
  }
  test("and none in a clean house", () => {
    expect(checkWalls([index], new Set([index.path]))).toEqual([]);
  });
  test("and an empty tree", () => {
    expect(checkWalls([], new Set()).map((each) => each.rule)).toEqual(["no-files"]);
  });
});

describe("reading source text", () => {
  test("comments and strings are no code, expressions in templates are", () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text under test holds a template.
    const text = 'const a = "process.env"; // process.env\n/* process.env */ const b = `x ${process.env.A} y`;\n';
    expect(blank(text, { strings: true }).match(/process\.env/g)?.length).toBe(1);
  });
  test("every form of import is seen", () => {
    const text = [
      'import a from "one";',
      'import type {\n  b,\n} from "two";',
      'export * from "three";',
      'import "four";',
      'const c = await import("five");',
      'new URL("./six.ts", import.meta.url);',
    ].join("\n");
    const found = importsOf({ path: "a.ts", text }).map((each) => each.specifier);
    expect(found.toSorted()).toEqual(["./six.ts", "five", "four", "one", "three", "two"]);
  });
  test("a class after an interface is no function", () => {
    const text = "interface A {\n  b(): void;\n  c(): Promise<{ d: string }>;\n}\nclass E implements A {\n}\n";
    expect(functionsOf({ path: "a.ts", text })).toEqual([]);
  });
  test("functions, methods and arrows are measured; control blocks are not", () => {
    const text = "function a() {\n}\nclass B {\n  c(): Promise<void> {\n  }\n}\nconst d = () => {\n};\nif (x) {\n}\n";
    expect(functionsOf({ path: "a.ts", text }).map((each) => each.lines)).toEqual([2, 2, 2]);
  });
});
