import { expect, test } from "bun:test";
import { ManualClock, seededRandom, systemClock, systemRandom } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { LedgerOpenError, LedgerUnavailableError } from "./errors.ts";
import { openLedger } from "./ledger.ts";
import { LedgerReadiness } from "./readiness.ts";
import { ChildSupervisor } from "./supervisor.ts";
import { fact, ledgerDirectory, recordingLog } from "./testing/ledger-directory.ts";

/** A TCP port that nothing listens on until `begin` forwards it to a server. */
async function lateProxy() {
  const probe = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const { port } = probe;
  probe.stop(true);
  let server: Bun.Server<undefined> | null = null;
  return {
    port,
    begin: (target: string): void => {
      server = Bun.serve({
        hostname: "127.0.0.1",
        port,
        fetch: async (request) => {
          const { pathname, search } = new URL(request.url);
          const body = request.method === "GET" ? null : await request.arrayBuffer();
          return await fetch(`${target}${pathname}${search}`, {
            method: request.method,
            headers: request.headers,
            body,
          });
        },
      });
    },
    [Symbol.asyncDispose]: async () => void (await server?.stop(true)),
  };
}

test("a ledger that is away at the start is migrated when it comes, and facts that waited are written once", async () => {
  using directory = ledgerDirectory();
  await using engine = await ChildSupervisor.start(
    { directory: directory.path },
    { clock: systemClock, random: systemRandom, log: recordingLog() },
  );
  const { url, user, password } = await engine.current();
  await using proxy = await lateProxy();
  const log = recordingLog();
  const clickhouseUrl = `http://${user}:${password}@127.0.0.1:${proxy.port}/late`;
  const options = { directory: "", clickhouseUrl, cluster: null };
  // What has to have it says at once that it is not there.
  await expect(openLedger(options, { clock: systemClock, log })).rejects.toBeInstanceOf(LedgerUnavailableError);
  await using ledger = await openLedger({ ...options, mayBeAway: true }, { clock: systemClock, log });
  await expect(ledger.query("SELECT 1")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  const waiting = 5;
  for (let at = 0; at < waiting; at += 1) {
    ledger.requests.append(fact({ accountId: "late", requestId: `r${at}`, at: systemClock.now() }));
  }
  expect(ledger.requests.waiting()).toBe(waiting);
  proxy.begin(url);
  await eventually("the facts are written", async () => {
    const sql = "SELECT count() AS n, uniqExact(request_id) AS ids FROM requests WHERE account_id = 'late'";
    const [row] = await ledger.query<{ n: string; ids: string }>(sql);
    return row?.n === String(waiting) && row.ids === row.n;
  });
  const said = log.entries.map(({ message }) => message);
  expect(said.filter((message) => message.includes("starts without it")).length).toBe(1);
  expect(said.filter((message) => message.includes("is there, and is used")).length).toBe(1);
}, 60_000);

test("a ledger that this version cannot use ends a start, and refuses calls with the cause when it comes later", async () => {
  const clock = new ManualClock();
  const newer = new LedgerOpenError("The ledger was written by a newer version");
  const outcomes: Error[] = [newer];
  const log = recordingLog();
  const open = async (): Promise<void> => {
    const next = outcomes.shift();
    if (next !== undefined) throw next;
  };
  const make = () => new LedgerReadiness({ clock, log, random: seededRandom(1), open });
  await expect(make().begin()).rejects.toBe(newer);
  await using readiness = make();
  outcomes.push(new LedgerUnavailableError("refused"), new LedgerUnavailableError("refused"), newer);
  await readiness.begin();
  const settle = async (): Promise<void> => {
    clock.advance(10_000);
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  };
  expect(() => readiness.require()).toThrow("refused");
  await settle();
  expect(log.entries.length).toBe(1);
  await settle();
  expect(() => readiness.require()).toThrow("newer version");
  expect(log.entries.length).toBe(2);
  await settle();
  expect(readiness.require()).toBeUndefined();
});

test("a failure of the store that the migration locks is no fault of the ledger, and it is tried again", async () => {
  const clock = new ManualClock();
  const outcomes: Error[] = [new LedgerUnavailableError("refused"), new Error("the database ended the connection")];
  const log = recordingLog();
  const open = async (): Promise<void> => {
    const next = outcomes.shift();
    if (next !== undefined) throw next;
  };
  await using readiness = new LedgerReadiness({ clock, log, random: seededRandom(1), open });
  await readiness.begin();
  for (let attempt = 0; attempt < 2; attempt += 1) {
    clock.advance(10_000);
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  }
  expect(log.entries.map(({ level }) => level)).toEqual(["warn", "warn", "info"]);
  readiness.require();
});
