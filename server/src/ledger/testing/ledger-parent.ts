/**
 * A small program that opens a ledger and stays: it is killed by tests that look for what it leaves behind.
 * Arguments: the directory, and `busy` for one that runs endless statements. Prints the engine's process id.
 */
import { systemClock } from "@sluice/lib";
import { openLedger } from "../ledger.ts";
import { recordingLog } from "./ledger-directory.ts";

const directory = process.argv[2];
if (directory === undefined) throw new Error("usage: ledger-parent.ts <directory>");
const options = { directory, clickhouseUrl: null, cluster: null };
try {
  const ledger = await openLedger(options, { clock: systemClock, log: recordingLog() });
  if (process.argv[3] === "busy") {
    const endless = [
      "SELECT count() FROM numbers(1e13) WHERE sipHash64(number) = 1",
      "SELECT sum(sleep(1)) FROM numbers(100)",
    ];
    for (const sql of endless) ledger.query(sql).catch(() => undefined);
    await Bun.sleep(100);
  }
  console.log(JSON.stringify({ child: ledger.childPid() }));
  setInterval(() => undefined, 1_000);
} catch (error) {
  console.log(JSON.stringify({ error: error instanceof Error ? error.message : String(error) }));
  process.exit(1);
}
