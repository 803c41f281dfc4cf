/**
 * A process that spends credits of a SQLite or PostgreSQL state until it is killed: directory of its data, address of
 * the database or "", account, allowance, credits to take. It says how many it has taken after each answer, and after
 * the last it goes on doing nothing.
 */
import { join } from "node:path";
import { systemClock, systemRandom } from "@sluice/lib";
import { openState } from "../../state/index.ts";
import { openCredits } from "../credits.ts";

const [directory = "", databaseUrl = "", accountId = "", allowance = "", requested = ""] = process.argv.slice(2);
const deps = { clock: systemClock, random: systemRandom, log: { info: () => {}, warn: () => {} } };
const state = await openState(
  { directory: join(directory, "state"), databaseUrl: databaseUrl === "" ? null : databaseUrl },
  deps,
);
const credits = openCredits(
  { directory: join(directory, "credits"), meter: "credits" },
  { ...deps, store: state.credits, events: { creditsReconciled: () => {}, creditsHeld: () => {} } },
);
let taken = 0;
while (taken < Number(requested)) {
  if (!(await credits.take(accountId, BigInt(allowance), 1))) break;
  taken += 1;
  if (taken % 100 === 0) process.stdout.write(`${taken}\n`);
}
process.stdout.write(`done ${taken}\n`);
setInterval(() => {}, 1_000);
