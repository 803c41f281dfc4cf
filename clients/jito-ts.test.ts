import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { systemClock, systemRandom } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import { parseTransaction } from "@sluice/wire/transaction";
import { addressOf } from "../server/src/engine/testing/fake-service.ts";
import { type ServedEngine, serveEngine } from "../server/src/engine/testing/served-engine.ts";
import { devTls, fixedCertificate } from "../server/src/net/index.ts";

let directory: string;
let served: ServedEngine;
let searcher: ReturnType<typeof spawned>;
let lines: Interface;
let answers: AsyncIterator<string>;

function spawned(port: number, authorityPath: string) {
  return Bun.spawn(
    [process.execPath, fileURLToPath(new URL("testing/jito-searcher.ts", import.meta.url)), `localhost:${port}`],
    {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
      env: { ...process.env, GRPC_DEFAULT_SSL_ROOTS_FILE_PATH: authorityPath },
    },
  );
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "sluice-jito-"));
  const tls = await devTls({ directory }, { clock: systemClock, random: systemRandom });
  served = await serveEngine({ tls: fixedCertificate(tls), clock: systemClock });
  searcher = spawned(served.port, tls.authorityPath);
  lines = createInterface({ input: Readable.from(searcher.stdout) });
  answers = lines[Symbol.asyncIterator]();
  // Loading the client takes seconds on a machine that is busy; no test is to wait for it.
  expect(await next()).toEqual({ answer: "ready" });
}, 60_000);
afterAll(async () => {
  searcher?.stdin.end();
  await searcher?.exited;
  await served?.[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

async function next(): Promise<unknown> {
  const { value, done } = await answers.next();
  if (done === true) throw new Error("the searcher has ended");
  return JSON.parse(value);
}

async function ask(line: string): Promise<unknown> {
  searcher.stdin.write(`${line}\n`);
  await searcher.stdin.flush();
  return await next();
}

describe("an unmodified jito-ts over TLS", () => {
  test("signs in with its key and reads tip accounts and leaders", async () => {
    expect(await ask("signed tipAccounts")).toEqual({ answer: { ok: true, value: served.engine.tipAccounts } });
    const identity = addressOf(5);
    served.engine.leaders.set(identity, [101n as Slot, 102n as Slot]);
    served.engine.leader = { slot: 101n as Slot, identity };
    expect(await ask("signed leaders")).toEqual({ answer: { ok: true, value: { [identity]: { slots: [101, 102] } } } });
    expect(await ask("signed nextLeader")).toEqual({
      answer: {
        ok: true,
        value: {
          currentSlot: 100,
          nextLeaderSlot: 101,
          nextLeaderIdentity: identity,
          nextLeaderRegion: "localnet",
        },
      },
    });
  });

  test("gets an authentication error without a key", async () => {
    expect(await ask("unsigned tipAccounts")).toMatchObject({ answer: { ok: false, error: { code: 16 } } });
  });

  test("sends a bundle and receives its results", async () => {
    expect(await ask("signed listen")).toEqual({ answer: "listening" });
    while (served.engine.followers === 0) await new Promise((resolve) => setImmediate(resolve));
    searcher.stdin.write(`signed send ${served.engine.tipAccounts[0]}\n`);
    await searcher.stdin.flush();
    // The acceptance and the answer come by different calls, in either order.
    const both = [await next(), await next()];
    const [submission] = served.engine.submissions;
    const parsed = submission?.submission.transactions.map((each) => parseTransaction(each).ok);
    expect(parsed).toEqual([true, true]);
    expect(submission?.searcher.id).toStartWith("pubkey:");
    const [id = ""] = served.engine.records.keys();
    expect(both).toContainEqual({ answer: { ok: true, value: id } });
    expect(both).toContainEqual({
      result: { bundleId: id, accepted: { slot: 101, validatorIdentity: addressOf(5) } },
    });
    served.engine.change(id, { to: "included", slot: 101n as Slot, blockhash: "hash", index: 0, tip: 1_000n });
    expect(await next()).toEqual({
      result: { bundleId: id, processed: { validatorIdentity: "", slot: 101, bundleIndex: 0 } },
    });
    served.engine.change(id, { to: "finalized" });
    expect(await next()).toEqual({ result: { bundleId: id, finalized: {} } });
  });

  test("gets a bundle's error in its own terms", async () => {
    served.engine.refusal = { reason: "tip_not_paid", detail: null };
    expect(await ask(`signed send ${served.engine.tipAccounts[0]}`)).toMatchObject({
      answer: {
        ok: false,
        error: {
          code: 3,
          details: "Bundles must write lock at least one tip account to be eligible for the auction.",
        },
      },
    });
  });
});
