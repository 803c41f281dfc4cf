/** A process that takes from one shared bucket as fast as it can: Redis address, prefix, rate, milliseconds. */

import { systemClock, systemRandom } from "@sluice/lib";
import { openHot } from "../../src/hot/index.ts";
import { createSharedLimits } from "../../src/limits/index.ts";

const [redisUrl = "", prefix = "", rateText = "", spanText = ""] = process.argv.slice(2);
const rate = Number(rateText);
const log = { info: () => {}, warn: () => {} };
const hot = await openHot({ redisUrl, prefix, commandTimeoutMs: 5_000 }, { clock: systemClock, log });
const report = { allowed: 0, refused: 0, askedMs: 0, firstMs: 0, lastMs: 0, backMs: 0, lost: 0 };
const sharingLost = (): void => {
  report.lost += 1;
};
const events = { sharingLost, sharingRestored: () => {}, replicasCounted: () => {} };
const holder = Buffer.from(systemRandom.bytes(8)).toString("hex");
const limits = createSharedLimits({ holder, waitMs: 5_000 }, { clock: systemClock, store: hot, events });

/** The wall clock, since the shared bucket fills by it; how far it was set back meanwhile is reported too. */
let newestMs = Date.now();
function wallMs(): number {
  const nowMs = Date.now();
  report.backMs += Math.max(0, newestMs - nowMs);
  newestMs = nowMs;
  return nowMs;
}

report.askedMs = wallMs();
for (const endMs = performance.now() + Number(spanText); performance.now() < endMs; ) {
  for (let index = 0; index < 20; index += 1) {
    const { allowed } = await limits.take("bucket", rate, rate * 2);
    if (!allowed) report.refused += 1;
    else {
      report.allowed += 1;
      report.lastMs = wallMs();
      report.firstMs ||= report.lastMs;
    }
  }
  await new Promise((resolve) => setImmediate(resolve));
}
console.log(JSON.stringify(report));
process.exit(0);
