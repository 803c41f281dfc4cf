import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Permission, SubscriptionTiers } from "@sluice/contract/tiers";
import { ManualClock, seededRandom } from "@sluice/lib";
import type { Hono } from "hono";
import { accessOfTests } from "../../access/testing/grants.ts";
import type { RestEnvironment } from "../../http/index.ts";
import { createKeys } from "../../keys/index.ts";
import { createLimits } from "../../limits/index.ts";
import { createLog } from "../../observe/index.ts";
import { type KeyRecord, openState, type State } from "../../state/index.ts";
import { type AdministrationDependencies, createAdministration } from "../administration.ts";
import { insertKey } from "./insert-key.ts";

export const noon = Date.UTC(2026, 10, 20, 12);
export const host = "127.0.0.1:8899";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers are asserted on, member by member.
  readonly body: any;
}

/** Administration over a real state store and real keys, in one process, at noon of 20 November 2026. */
export interface Stand extends AsyncDisposable {
  readonly state: State;
  readonly clock: ManualClock;
  readonly app: Hono<RestEnvironment>;
  account(name: string, tiers?: Partial<SubscriptionTiers>): Promise<string>;
  key(accountId: string, permissions: Permission[], changes?: Partial<KeyRecord>): Promise<{ id: string; key: string }>;
  /** What the key opens now: "granted", or the code that refuses it. */
  opens(key: string): Promise<string>;
  ask(method: string, path: string, key: string | null, body?: unknown, headers?: object): Promise<Answer>;
}

type StandOverrides = Partial<AdministrationDependencies>;

export async function openStand(extend: (parts: { state: State; clock: ManualClock }) => StandOverrides = () => ({})) {
  const directory = mkdtempSync(join(tmpdir(), "sluice-admin-"));
  const clock = new ManualClock(noon);
  const random = seededRandom(11);
  const log = createLog({ level: "silent" });
  const state = await openState({ directory, databaseUrl: null }, { clock, random, log });
  const keys = createKeys(
    { developmentKeys: "accept", flushIntervalMs: null },
    { clock, log, findByHash: (hash) => state.keys.findByHash(hash), touch: (used) => state.keys.touch(used) },
  );
  const unused = (what: string) => () => {
    throw new Error(`${what} was not expected to be asked`);
  };
  const app = createAdministration({
    state,
    clock,
    random,
    log,
    events: { requestServed: () => undefined, requestRefused: () => undefined },
    requestId: () => "req-1",
    access: accessOfTests({ keys, limits: createLimits({}, { clock }) }),
    developmentKeys: "accept",
    invalidateKey: (hash) => keys.invalidate(hash),
    invalidateAccount: (accountId) => keys.invalidateAccount(accountId),
    upstreams: { list: () => [], prepare: unused("a node"), remove: unused("a node"), follow: async () => undefined },
    engine: { figures: () => null, standsBy: () => false, refreshSwitches: unused("an engine") },
    reload: unused("the configuration"),
    closing: new AbortController().signal,
    flushUsage: async () => undefined,
    readUsage: unused("usage"),
    requests: { flush: async () => undefined, find: unused("a request"), search: unused("requests") },
    requestsKeptSince: () => null,
    ledgerTables: unused("tables"),
    servedRequests: async () => 0n,
    recordedRequests: async () => new Map(),
    creditsUsed: unused("credits"),
    sentBy: unused("what was sent"),
    ...extend({ state, clock }),
  });
  const stand: Stand = {
    state,
    clock,
    app,
    account: async (name, tiers = { platform: "business" }) => (await state.accounts.create({ name, tiers })).id,
    key: (accountId, permissions, changes = {}) =>
      insertKey({ accountId, permissions, changes }, { state, clock, random }),
    opens: async (key) => {
      const grant = await keys.authenticate(key);
      return grant.ok ? "granted" : grant.code;
    },
    ask: async (method, path, key, body, headers = {}) => {
      const request = new Request(`http://${host}${path}`, {
        method,
        headers: {
          host,
          ...(key === null ? {} : { "x-api-key": key }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const answer = await app.fetch(request, { requestId: "req-1", socketAddress: "127.0.0.1" });
      const text = await answer.text();
      const isJson = answer.headers.get("content-type")?.includes("json") === true;
      return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text };
    },
    [Symbol.asyncDispose]: async () => {
      await keys[Symbol.asyncDispose]();
      await state[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  return stand;
}
