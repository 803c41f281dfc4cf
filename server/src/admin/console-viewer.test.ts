import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Permission } from "@sluice/contract/tiers";
import { ManualClock, seededRandom } from "@sluice/lib";
import { accessOfTests, grantOfTests } from "../access/testing/grants.ts";
import { createLog } from "../observe/index.ts";
import { openState, type State } from "../state/index.ts";
import { ConsoleSessions } from "./console-session.ts";
import { issueKey } from "./issue-key.ts";

const host = "127.0.0.1:8899";
const clock = new ManualClock();
const random = seededRandom(9);
let directory = "";
let state: State;
let accountId: string;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "sluice-console-"));
  state = await openState({ directory, databaseUrl: null }, { clock, random, log: createLog({ level: "silent" }) });
  accountId = (await state.accounts.create({ name: "a" })).id;
});
afterEach(async () => {
  await state[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

/** The id of a new key with these permissions. */
async function keyWith(...permissions: Permission[]): Promise<string> {
  const { record } = issueKey(
    {
      accountId,
      name: "key",
      environment: "live",
      restrictions: { networks: [], domains: [], ipRanges: [] },
      permissions,
      enhanced: true,
      enhancedRequestsPerSecond: null,
      requestsPerSecond: null,
      expiresAt: null,
    },
    { clock, random },
  );
  await state.keys.insert(record);
  return record.id;
}

test("who operates the server is who holds admin now, by session, by key, and the owner of a development machine", async () => {
  const operator = await keyWith("admin");
  const reader = await keyWith("read");
  const sessions = new ConsoleSessions({
    state,
    clock,
    access: accessOfTests({
      keys: {
        authenticate: (key) => ({ ...grantOfTests, accountId, keyId: key ?? "" }),
        checkRestrictions: () => null,
      },
    }),
    openAccount: () => accountId,
  });
  const viewed = (headers: Record<string, string>) =>
    sessions.viewerOf({
      request: new Request(`http://${host}/`, { headers: { host, ...headers } }),
      socketAddress: "",
    });
  const bySession = async (key: string) => {
    const request = new Request(`http://${host}/`, { method: "POST", headers: { host, origin: `http://${host}` } });
    const { cookie } = await sessions.signIn({ request, socketAddress: "" }, key);
    return cookie.split(";")[0] ?? "";
  };
  const cookie = await bySession(operator);
  expect(await viewed({ cookie })).toEqual({ accountId, operates: true });
  expect(await viewed({ cookie: await bySession(reader) })).toEqual({ accountId, operates: false });
  expect(await viewed({ "x-api-key": operator })).toEqual({ accountId, operates: true });
  expect(await viewed({ "x-api-key": reader })).toEqual({ accountId, operates: false });
  expect(await viewed({})).toEqual({ accountId, operates: true });
  await state.keys.update(operator, { permissions: ["read"] });
  expect(await viewed({ cookie })).toEqual({ accountId, operates: false });
});
