/**
 * `npm run walks -- [checkout]`: boots Sluice from the checkout (this one by default), sends one JSON-RPC miss, one
 * bundle, one price and one development transaction through it, and prints the files that each executed, in the order
 * of their first execution. A walk is run several times; the files that every run executed are its files, so that work
 * in the background which one window happened to meet does not count. `--write` compares with the counts of
 * scripts/walks/baseline.json and writes docs/walks.md; `--check` exits with 1 when a walk executes more files than
 * docs/walks.md states.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { bundleWalk, missWalk, priceWalk, transactionWalk } from "./walks/walks.ts";

const here = join(import.meta.dir, "..");
const args = process.argv.slice(2).filter((arg) => !arg.startsWith("--"));
const root = resolve(args[0] ?? here);
const only = process.argv.find((arg) => arg.startsWith("--only="))?.slice("--only=".length);

const walks = {
  "A JSON-RPC miss": missWalk,
  "A bundle": bundleWalk,
  "A price": priceWalk,
  "A development transaction": transactionWalk,
} as const;

const linesOf = (file: string): number => readFileSync(join(root, file), "utf8").split("\n").length - 1;
const results: { readonly name: string; readonly files: readonly string[] }[] = [];
for (const [name, walk] of Object.entries(walks)) {
  if (only !== undefined && !name.includes(only)) continue;
  const files = await walk(root);
  results.push({ name, files });
  console.log(`\n${name}: ${files.length} files, ${files.reduce((sum, file) => sum + linesOf(file), 0)} lines`);
  for (const file of files) console.log(`  ${file}`);
}

if (process.argv.includes("--check")) {
  const text = readFileSync(join(here, "docs/walks.md"), "utf8");
  for (const { name, files } of results) {
    const stated = Number(new RegExp(`^\\| ${name} \\| \\d+ \\| (\\d+) \\|`, "m").exec(text)?.[1] ?? 0);
    if (files.length <= stated) continue;
    console.error(`${name}: ${files.length} files, docs/walks.md states ${stated}`);
    process.exitCode = 1;
  }
}

/** Why walks are longer than after the restructuring, which brought a miss to 58 files and a price to 56. */
const growth = `A miss grew from 58 to 66 files: permissions of keys and their methods, slots that a key was shown for answers
without a context, a count of served requests in the state store, and rests, probes and beliefs about nodes each have a
file that every call passes. A price grew from 56 to 65: the rate of USDT
and its evidence replace one index, candles of exchanges give volumes, each tier has its own age of a price, and one
recorder writes, which holds a lease. A bundle grew from 77 to 78: its lease is in a room that others use too.`;

function page(baseline: { readonly commit: string; readonly files: Readonly<Record<string, number>> }): string {
  const rows = results.map(({ name, files }) => {
    const before = baseline.files[name] ?? 0;
    const lines = files.reduce((sum, file) => sum + linesOf(file), 0);
    return `| ${name} | ${before} | ${files.length} | ${(files.length / before).toFixed(2)} | ${lines} |`;
  });
  const lists = results.map(
    ({ name, files }) => `## ${name}\n\n${files.map((file, at) => `${at + 1}. \`${file}\``).join("\n")}\n`,
  );
  return `# Walks

The files that are executed on four ways through Sluice, in the order of their first execution, written by
\`npm run walks -- --write\`. The script instruments every function of a whole running system, sends one
request, and lists the files of which a function ran in each of several runs. The counts before are of commit
${baseline.commit}, by the same script. A change that makes a walk longer says why here.

| walk | files at ${baseline.commit} | files | ratio | lines in them |
|---|---|---|---|---|
${rows.join("\n")}

${growth}

${lists.join("\n")}`;
}

if (process.argv.includes("--write")) {
  const text = readFileSync(join(here, "scripts/walks/baseline.json"), "utf8");
  const baseline = JSON.parse(text) as { commit: string; files: Record<string, number> };
  writeFileSync(join(here, "docs/walks.md"), page(baseline));
}
