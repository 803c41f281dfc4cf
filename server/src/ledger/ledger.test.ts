import { afterAll, expect, test } from "bun:test";
import { systemClock } from "@sluice/lib";
import { openLedger } from "./ledger.ts";
import { ledgerConformance } from "./testing/conformance.ts";
import { ledgerDirectory, recordingLog } from "./testing/ledger-directory.ts";

const directory = ledgerDirectory();
afterAll(() => directory[Symbol.dispose]());

ledgerConformance("chdb", () =>
  openLedger(
    { directory: directory.path, clickhouseUrl: null, cluster: null },
    { clock: systemClock, log: recordingLog() },
  ),
);

// The suite writes rows, so it asks for a server of its own: CLICKHOUSE_URL=http://user:password@host:8123/scratch.
const clickhouseUrl = process.env["CLICKHOUSE_URL"];
if (clickhouseUrl === undefined || clickhouseUrl === "") {
  console.warn("LEDGER CONFORMANCE DID NOT RUN ON A CLICKHOUSE SERVER: set CLICKHOUSE_URL (and CLICKHOUSE_CLUSTER).");
} else {
  const cluster = process.env["CLICKHOUSE_CLUSTER"] ?? null;
  ledgerConformance("a ClickHouse server", () =>
    openLedger({ directory: directory.path, clickhouseUrl, cluster }, { clock: systemClock, log: recordingLog() }),
  );
}

test("a cluster's name without CLICKHOUSE_URL is refused", async () => {
  const opening = openLedger(
    { directory: directory.path, clickhouseUrl: null, cluster: "main" },
    { clock: systemClock, log: recordingLog() },
  );
  await expect(opening).rejects.toThrow("CLICKHOUSE_URL is not set");
});
