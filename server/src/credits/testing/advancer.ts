/**
 * A process whose store goes away, and that spends of an advance until it is killed: directory of its data, credits to
 * spend of the advance. It says how large the advance is when it has spent so many, and goes on doing nothing.
 */
import { join } from "node:path";
import { ManualClock, systemRandom } from "@sluice/lib";
import { openCredits } from "../credits.ts";
import { MeterInMemory } from "./meter-in-memory.ts";

const [directory = "", requested = ""] = process.argv.slice(2);
const meter = Object.assign(new MeterInMemory(), { closeBooksBefore: async () => 0 });
const clock = new ManualClock(Date.UTC(2026, 10, 20));
let credited = 0;
let isAway = false;
const used = meter.used.bind(meter);
meter.used = async (...asked) => (isAway ? Promise.reject(new Error("away")) : used(...asked));
const credits = openCredits(
  { directory: join(directory, "credits"), meter: "credits", sweepIntervalMs: null },
  {
    clock,
    random: systemRandom,
    log: { warn: () => undefined },
    store: meter,
    events: { creditsReconciled: () => undefined, creditsHeld: () => undefined },
    advances: {
      processes: () => 1,
      events: {
        creditsAdvanced: (_meter, size) => {
          credited = size;
        },
        advanceCharged: () => undefined,
      },
    },
  },
);
for (let take = 0; take < 100; take += 1) await credits.take("a", 1_000_000n, 1);
isAway = true;
// What was leased is gone first; it is not what the test counts.
while (credited === 0) await credits.take("a", 1_000_000n, 1);
for (let spent = 1; spent < Number(requested); spent += 1) await credits.take("a", 1_000_000n, 1);
process.stdout.write(`done ${credited}\n`);
setInterval(() => undefined, 1_000);
