import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock, seededRandom } from "@sluice/lib";
import { accessOfTests, grantOfTests } from "../access/testing/grants.ts";
import { createLog } from "../observe/index.ts";
import { openState, type State } from "../state/index.ts";
import { ConsoleSessions } from "./console-session.ts";
import { issueKey } from "./issue-key.ts";

const host = "127.0.0.1:8899";
const clock = new ManualClock();
const random = seededRandom(7);
let directory = "";
let state: State;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "sluice-console-"));
  state = await openState({ directory, databaseUrl: null }, { clock, random, log: createLog({ level: "silent" }) });
});
afterEach(async () => {
  await state[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

/** A signed-in browser: its sessions, the key's id and a request with the cookie. */
async function signedIn(expiresAt: number | null) {
  const account = await state.accounts.create({ name: "a" });
  const { key, record } = issueKey(
    {
      accountId: account.id,
      name: "key",
      environment: "live",
      restrictions: { networks: [], domains: [], ipRanges: [] },
      permissions: ["read"],
      enhanced: true,
      enhancedRequestsPerSecond: null,
      requestsPerSecond: null,
      expiresAt,
    },
    { clock, random },
  );
  await state.keys.insert(record);
  const sessions = new ConsoleSessions({
    state,
    clock,
    access: accessOfTests({
      keys: {
        authenticate: () => ({ ...grantOfTests, accountId: account.id, keyId: record.id }),
        checkRestrictions: () => null,
      },
    }),
    openAccount: () => null,
  });
  const request = (headers: Record<string, string>) =>
    new Request(`http://${host}/api/v1/console/session`, { headers: { host, ...headers } });
  const from = (created: Request) => ({ request: created, socketAddress: "127.0.0.1" });
  const { cookie } = await sessions.signIn(from(request({ origin: `http://${host}` })), key);
  return { sessions, account, keyId: record.id, looking: from(request({ cookie: cookie.split(";")[0] ?? "" })) };
}

test("a session ends with the key that opened it: revoked, disabled", async () => {
  for (const status of ["revoked", "disabled"] as const) {
    const { sessions, account, keyId, looking } = await signedIn(null);
    expect(await sessions.accountOf(looking)).toBe(account.id);
    await state.keys.setStatus(keyId, status);
    await expect(sessions.accountOf(looking)).rejects.toThrow("Sign in");
  }
});

test("a session ends when its key expires", async () => {
  const { sessions, account, looking } = await signedIn(clock.now() + 1_000);
  expect(await sessions.accountOf(looking)).toBe(account.id);
  clock.advance(1_000);
  await expect(sessions.accountOf(looking)).rejects.toThrow("Sign in");
});
