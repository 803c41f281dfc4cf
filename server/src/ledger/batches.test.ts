import { expect, test } from "bun:test";
import { ManualClock, seededRandom } from "@sluice/lib";
import { advanceUntil } from "@sluice/lib/testing";
import { BatchNumbers, BatchWriter, batchesOf } from "./batches.ts";
import { LedgerQueryError, LedgerUnavailableError } from "./errors.ts";
import { requestsTable } from "./tables.ts";

/** A writer over a connection whose INSERTs fail in turn with `faults`, and then succeed. */
function setUp(faults: Error[]) {
  const clock = new ManualClock(1_700_000_000_000);
  const tokens: string[] = [];
  const connection = {
    insertRows: async (_table: string, _body: unknown, token: string) => {
      tokens.push(token);
      const fault = faults.shift();
      if (fault !== undefined) throw fault;
    },
    // The rows of the one batch are there.
    query: async <T>() => [{ rows: "1" }] as T[],
  };
  const writer = new BatchWriter({ replicated: false }, { connection, clock });
  const [batch] = batchesOf(requestsTable, [{ at: clock.now() }], new BatchNumbers({ clock, random: seededRandom(1) }));
  if (batch === undefined) throw new Error("no batch");
  return { clock, tokens, write: () => writer.write(batch) };
}

const full = new LedgerQueryError(243, "Code: 243. DB::Exception: Cannot reserve 1.00 MiB, not enough space");

test("an INSERT that meets a full disk is sent again under its token until there is room", async () => {
  const { clock, tokens, write } = setUp([full, full, new LedgerUnavailableError("test")]);
  await advanceUntil(clock, write());
  expect(tokens).toHaveLength(4);
  expect(new Set(tokens).size).toBe(1);
});

test("a disk that stays full makes the ledger unavailable, with the cause, and is no refusal of the rows", async () => {
  const { clock, write } = setUp(Array(1_000).fill(full));
  const outcome = write().catch((error: unknown) => error);
  const error = await advanceUntil(clock, outcome);
  expect(error).toBeInstanceOf(LedgerUnavailableError);
  expect(String(error)).toContain("not enough space");
});

test("rows that the ledger refuses for good are refused at once", async () => {
  const refusal = new LedgerQueryError(27, "cannot parse");
  const { tokens, write } = setUp([refusal]);
  await expect(write()).rejects.toBe(refusal);
  expect(tokens).toHaveLength(1);
});
