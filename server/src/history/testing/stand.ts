import { systemClock, systemRandom } from "@sluice/lib";
import { type Ledger, openLedger } from "../../ledger/index.ts";
import { ledgerDirectory, recordingLog } from "../../ledger/testing/ledger-directory.ts";
import { openChainLog } from "../../log/index.ts";
import { chain } from "../../log/testing/chain-model.ts";
import { observed, standardOptions, temporaryDirectory } from "../../log/testing/segment-logs.ts";
import { createLog, createMetrics } from "../../observe/index.ts";
import { createHistoryEvents } from "../events.ts";

/** A ledger of the embedded engine in a directory that goes with it. */
export async function openTestLedger(): Promise<Ledger & AsyncDisposable> {
  const directory = ledgerDirectory();
  const options = { directory: directory.path, clickhouseUrl: null, cluster: null };
  const ledger = await openLedger(options, { clock: systemClock, random: systemRandom, log: recordingLog() });
  return {
    ...ledger,
    [Symbol.asyncDispose]: async () => {
      await ledger[Symbol.asyncDispose]();
      directory[Symbol.dispose]();
    },
  };
}

/** A log of the chain in files that go with it. */
export async function openTestLog() {
  const directory = temporaryDirectory();
  const { dependencies } = observed();
  const log = await openChainLog({ ...standardOptions, dataDirectory: directory.path, sync: "interval" }, dependencies);
  return {
    log,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      await log[Symbol.asyncDispose]();
      directory[Symbol.dispose]();
    },
  };
}

/** Events of this room whose metrics can be read. */
export function testEvents() {
  const metrics = createMetrics({}, { clock: systemClock });
  const lines: string[] = [];
  const log = createLog({ level: "debug", destination: { write: (line: string) => lines.push(line) } });
  return { events: createHistoryEvents({ log, metrics }), metrics, lines };
}

/** For rows of transactions on which the parser must not fail. */
export const unreadable = ({ signature, error }: { readonly signature: string; readonly error: unknown }): never => {
  throw new Error(`the parser failed on ${signature}`, { cause: error });
};

export { chain };
