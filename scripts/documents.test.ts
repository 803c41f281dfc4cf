import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Glob } from "bun";

/** Checks that every file that the documents name exists. */

const root = join(import.meta.dir, "..");
const documents = [
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "STYLE.md",
  ...[...new Glob("docs/guides/*.md").scanSync({ cwd: root })],
];
/** Paths are written from the repository's root, or from the folder that a section states. */
const bases = ["", "server/src", "devnet/chain"];

/** The files that a document names in code spans, and those that it links to. */
function namedFiles(document: string, text: string): readonly { readonly name: string; readonly found: boolean }[] {
  const spans = [...text.matchAll(/`([\w.-]+(?:\/[\w.-]+)+\.(?:ts|tsx|json|md))`/g)].map(([, name = ""]) => ({
    name,
    found: bases.some((base) => existsSync(join(root, base, name))),
  }));
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)].map(([, name = ""]) => ({
    name,
    found: existsSync(join(root, dirname(document), name)),
  }));
  return [...spans, ...links];
}

test("every file that a document names exists", () => {
  const named = documents.flatMap((document) =>
    namedFiles(document, readFileSync(join(root, document), "utf8")).map((each) => ({ document, ...each })),
  );
  expect(named.length).toBeGreaterThan(100);
  // Files of a running server, which are in its data directory.
  const ofRunning = new Set([".sluice/dev.json"]);
  expect(
    named
      .filter(({ name, found }) => !found && !ofRunning.has(name))
      .map(({ document, name }) => `${document}: ${name}`),
  ).toEqual([]);
});

test("the check sees a file that does not exist", () => {
  const text = "`server/src/main.ts`, `server/src/no-such-file.ts`, [a](README.md), [b](no-such-page.md)";
  expect(
    namedFiles("README.md", text)
      .filter(({ found }) => !found)
      .map(({ name }) => name),
  ).toEqual(["server/src/no-such-file.ts", "no-such-page.md"]);
});
