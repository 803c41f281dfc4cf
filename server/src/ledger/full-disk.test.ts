import { expect, test } from "bun:test";
import { systemClock } from "@sluice/lib";
import { eventually, mountSmallDisk } from "@sluice/lib/testing";
import { LedgerUnavailableError } from "./errors.ts";
import { openLedger } from "./ledger.ts";
import { fact, recordingLog } from "./testing/ledger-directory.ts";

/** Room for the engine's own files and some thousand facts. */
const diskBytes = 192 * 1024 * 1024;

test("facts wait while the disk of the ledger is full, and all of them are there once it has room again", async () => {
  using disk = mountSmallDisk(diskBytes);
  if (disk === null) {
    console.warn("THE TEST OF A FULL DISK DID NOT RUN: it needs the right to mount a tmpfs.");
    return;
  }
  const log = recordingLog();
  const options = { directory: disk.path, clickhouseUrl: null, cluster: null };
  await using ledger = await openLedger(options, { clock: systemClock, log });
  let appended = 0;
  const append = (facts: number): void => {
    for (let index = 0; index < facts; index++) {
      ledger.requests.append(fact({ accountId: "full", requestId: `r${appended++}`, at: systemClock.now() }));
    }
  };
  append(100);
  await ledger.requests.flush();
  disk.fill();
  append(300);
  await expect(ledger.requests.flush()).rejects.toThrow("could not be written in time");
  append(50);
  expect(ledger.requests.waiting()).toBe(350);
  // Other tables wait at their owners, who learn that it is no refusal.
  const price = [{ at: systemClock.now(), symbol: "BTC" }];
  await expect(ledger.insert("oracle_rounds", price)).rejects.toBeInstanceOf(LedgerUnavailableError);
  await eventually("the word of the outage", () => log.entries.some(({ message }) => message.includes("facts wait")));
  const wait = log.entries.find(({ message }) => message.includes("facts wait"));
  expect(wait?.fields).toMatchObject({ reason: expect.stringMatching(/space|ENOSPC/i) });
  disk.empty();
  await ledger.requests.flush();
  await ledger.insert("oracle_rounds", price);
  const sql = "SELECT count() AS n, uniqExact(request_id) AS ids FROM requests WHERE account_id = 'full'";
  expect(await ledger.query(sql)).toEqual([{ n: String(appended), ids: String(appended) }]);
  expect(await ledger.query("SELECT count() AS n FROM oracle_rounds")).toEqual([{ n: "1" }]);
  expect(ledger.requests.dropped()).toBe(0);
}, 60_000);
