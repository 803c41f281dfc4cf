/**
 * A process that takes credits one by one, as many as it can get, until its standard input ends: its data directory,
 * the database, the account, the allowance. It says how many it has taken after each hundred, and when it is refused.
 */
import { join } from "node:path";
import { systemClock, systemRandom } from "@sluice/lib";
import { openCredits } from "../../src/credits/index.ts";
import { openState } from "../../src/state/index.ts";

const [directory = "", databaseUrl = "", accountId = "", allowance = ""] = process.argv.slice(2);
const deps = { clock: systemClock, random: systemRandom, log: { info: () => {}, warn: () => {} } };
const state = await openState({ directory, databaseUrl }, deps);
const credits = openCredits(
  { directory: join(directory, "credits"), meter: "credits" },
  { ...deps, store: state.credits, events: { creditsReconciled: () => {}, creditsHeld: () => {} } },
);
let isEnding = false;
process.stdin.on("end", () => {
  isEnding = true;
});
process.stdin.resume();
let taken = 0;
while (!isEnding) {
  const isTaken = await credits.take(accountId, BigInt(allowance), 1);
  if (isTaken) taken += 1;
  if (isTaken && taken % 100 !== 0) continue;
  process.stdout.write(`${taken}\n`);
  // A hundred at a time, so that the others get their part; who was refused asks again a little later.
  await Bun.sleep(isTaken ? 30 : 50);
}
process.stdout.write(`${taken}\n`);
await credits[Symbol.asyncDispose]();
await state[Symbol.asyncDispose]();
