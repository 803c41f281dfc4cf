/**
 * `npm run campaign -- <name> --n N --seed S`: one large, seeded proof. Without a name: what there is. Some take
 * `--only name,name` for a part of what they are about.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./run-tests.ts";

interface Campaign {
  run(options: { n: number; seed: number; only?: readonly string[] }): Promise<{ passed: boolean; summary: string }>;
}

async function findCampaigns(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const path of new Bun.Glob(
    "{contract,wire,lib,auction,svm,encode,parser,geyser,sdk,devnet,server,scripts}/**/*.campaign.ts",
  ).scan({
    cwd: root,
  })) {
    if (path.includes("node_modules")) continue;
    found.set(path.replace(/^.*\//, "").replace(".campaign.ts", ""), path);
  }
  return found;
}

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  options: { n: { type: "string", default: "1000" }, seed: { type: "string", default: "1" }, only: { type: "string" } },
  allowPositionals: true,
});
const campaigns = await findCampaigns();
const name = positionals[0];
const path = name === undefined ? undefined : campaigns.get(name);
if (path === undefined) {
  if (name !== undefined) console.error(`There is no campaign ${name}.`);
  console.log([...campaigns.keys()].toSorted().join("\n"));
  process.exitCode = name === undefined ? 0 : 2;
} else {
  const campaign: Campaign = await import(join(root, path));
  const started = performance.now();
  const only = values.only === undefined ? {} : { only: values.only.split(",") };
  const options = { n: Number(values.n), seed: Number(values.seed), ...only };
  const { passed, summary } = await campaign.run(options);
  const minutes = ((performance.now() - started) / 60_000).toFixed(2);
  console.log(
    `${name} n=${options.n} seed=${options.seed}: ${passed ? "passed" : "FAILED"} in ${minutes} min\n${summary}`,
  );
  process.exitCode = passed ? 0 : 1;
}
