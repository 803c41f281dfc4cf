import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";

const sources = join(import.meta.dir, "..");
const transpiler = new Bun.Transpiler({ loader: "ts" });

/** Files of the server that a file loads before it runs, itself among them: without types and later `import()`. */
function loadedBy(entry: string): string[] {
  const seen = new Set([join(sources, entry)]);
  for (const path of seen) {
    for (const { path: imported, kind } of transpiler.scanImports(readFileSync(path, "utf8"))) {
      if (kind === "import-statement" && /^\..*\.ts$/.test(imported)) seen.add(join(path, "..", imported));
    }
  }
  return [...seen].map((path) => relative(sources, path));
}

test("a command that asks a running server loads the commands and the configuration, not the server", () => {
  const loaded = loadedBy("main.ts");
  expect(loaded).toContain("command/management-client.ts");
  expect(loaded).toContain("config/load.ts");
  expect(loaded.filter((path) => !/^(main\.ts|(command|config)\/|\.\.)/.test(path))).toEqual([]);
});

test("what runs a server does load it", () => {
  expect(loadedBy("command/serve.ts")).toContain("compose.ts");
});
