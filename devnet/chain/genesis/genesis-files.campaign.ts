import { readFileSync } from "node:fs";
import type { JsonValue } from "@sluice/wire/json";
import { TextRandom } from "../../random.ts";
import { buildGenesis } from "./build.ts";
import { readGenesisFile } from "./file.ts";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const strangeValues: readonly Json[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e21,
  "",
  "alice",
  "native",
  "usdc",
  "18446744073709551615",
  "18446744073709551616",
  "11111111111111111111111111111111",
  "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
  "\0",
  "a".repeat(300),
  "AA==",
  [],
  {},
  [[]],
  { name: "alice" },
];

/** Everything of a document that holds something. */
function holders(value: Json, found: (Json[] | { [key: string]: Json })[] = []): typeof found {
  if (typeof value !== "object" || value === null) return found;
  found.push(value);
  for (const each of Object.values(value)) holders(each, found);
  return found;
}

/** Exchanges, takes away, repeats or adds something somewhere. */
function damage(document: Json, draw: TextRandom): void {
  const holder = draw.pick(holders(document));
  if (holder === null) return;
  const strange = structuredClone(draw.pick(strangeValues));
  if (Array.isArray(holder)) {
    const at = draw.below(holder.length + 1);
    const kind = draw.below(3);
    if (kind === 0) holder.splice(at, 1);
    else if (kind === 1) holder.splice(at, 1, strange);
    else holder.push(structuredClone(holder[at] ?? strange));
    return;
  }
  const key = draw.pick([...Object.keys(holder), "name", "owner", "__proto__", "extra"]) ?? "extra";
  if (draw.below(3) === 0) delete holder[key];
  else Object.defineProperty(holder, key, { value: strange, enumerable: true, configurable: true, writable: true });
}

/**
 * Reads and builds the default genesis file `n` times with up to four damages. None may throw: each is read whole, or
 * its errors are reported with a path; and what is built has no account twice.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const source = readFileSync(new URL("./default.json", import.meta.url), "utf8");
  const draw = new TextRandom(`genesis files ${seed}`);
  const tally = { sound: 0, unread: 0, unbuilt: 0 };
  for (let done = 0; done < n; done += 1) {
    const document: Json = JSON.parse(source);
    for (let damages = draw.below(4) + 1; damages > 0; damages -= 1) damage(document, draw);
    const read = readGenesisFile(document as JsonValue);
    if (!read.ok) {
      tally.unread += 1;
      if (read.faults.length === 0) return { passed: false, summary: `run ${done}: refused without a fault` };
      continue;
    }
    const build = buildGenesis(read.file);
    if (build.ok) {
      tally.sound += 1;
      const addresses = build.built.accounts.map(({ address }) => address);
      if (new Set(addresses).size !== addresses.length)
        return { passed: false, summary: `run ${done}: an account twice` };
    } else tally.unbuilt += 1;
  }
  const { sound, unread, unbuilt } = tally;
  return {
    passed: unread > 0 && sound > 0,
    summary: `${sound} sound, ${unread} not read, ${unbuilt} not built; none threw`,
  };
}
