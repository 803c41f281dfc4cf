/** Which test files can notice a change of a file: those that import or start it, directly or through others. */
import { readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { parseSync } from "oxc-parser";

/** How a program of a process of its own is named where it is started. */
const startedFile = /new URL\("(\.[^"]+\.ts)", import\.meta\.url\)/g;

export class Importers {
  readonly #importedBy = new Map<string, Set<string>>();

  /** `files` are paths from `root`. */
  constructor(root: string, files: readonly string[]) {
    for (const path of files) {
      const text = readFileSync(join(root, path), "utf8");
      const { module } = parseSync(path, text, { sourceType: "module" });
      const named = [...module.staticImports, ...module.staticExports.flatMap(({ entries }) => entries)];
      const started = [...text.matchAll(startedFile)].map(([, file]) => file);
      for (const specifier of [...named.map(({ moduleRequest }) => moduleRequest?.value), ...started]) {
        const target = targetOf(specifier ?? "", join(root, path), root);
        if (target === null) continue;
        const importers = this.#importedBy.get(target) ?? new Set();
        this.#importedBy.set(target, importers.add(path));
      }
    }
  }

  /** The test files that reach `path`, nearest first. */
  testsOf(path: string): string[] {
    const seen = new Set([path]);
    const tests: string[] = [];
    for (const file of seen) {
      if (/\.test\.tsx?$/.test(file)) tests.push(file);
      for (const importer of this.#importedBy.get(file) ?? []) seen.add(importer);
    }
    return tests;
  }
}

/** The file from `root` that an import names, directly or by a workspace; null for a package of others. */
function targetOf(specifier: string, importer: string, root: string): string | null {
  if (specifier.startsWith(".")) return normalize(join(relative(root, dirname(importer)), specifier));
  return specifier.startsWith("@sluice/") ? relative(root, Bun.resolveSync(specifier, dirname(importer))) : null;
}
