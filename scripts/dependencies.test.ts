import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "..");
const manifestOf = (workspace: string) => JSON.parse(readFileSync(join(root, workspace, "package.json"), "utf8"));
const manifests = ["", ...manifestOf("").workspaces].map(manifestOf);
const dependencies = manifests.flatMap((manifest): [string, string][] =>
  Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }),
);
const ours = new Set(manifests.map((manifest) => manifest.name));

test("each dependency is pinned to one version", () => {
  expect(dependencies.length).toBeGreaterThan(20);
  expect(dependencies.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});

test("each dependency has its line in docs/dependencies.md, and each line its dependency", () => {
  const page = readFileSync(join(root, "docs/dependencies.md"), "utf8");
  const rows = [...page.matchAll(/^\| ([^|]+) \|/gm)].flatMap((row) => (row[1] ?? "").split(", "));
  const listed = rows.filter((name) => name !== "package" && !name.startsWith("---"));
  const used = new Set(dependencies.map(([name]) => name).filter((name) => !ours.has(name)));
  expect(listed.toSorted()).toEqual([...used].toSorted());
});
