import { beforeEach, expect, test } from "bun:test";
import { engineLimits } from "@sluice/contract/engine";
import { platformTierLimits } from "@sluice/contract/tiers";
import { compileAddressSet, ManualClock } from "@sluice/lib";
import type { Address } from "@sluice/wire/identifiers";
import type { JsonValue } from "@sluice/wire/json";
import { accessOfTests, grantOfTests } from "../../access/testing/grants.ts";
import type { RequestFact } from "../../ledger/index.ts";
import { createLimits } from "../../limits/index.ts";
import { EngineChainError } from "../model/chain-port.ts";
import { FakeBlockEngineService } from "../testing/fake-service.ts";
import { testSigner, transfer } from "../testing/transactions.ts";
import { createEngineHttp } from "./http.ts";

const from = testSigner();
const sendRate = platformTierLimits.free.sendTransactionsPerSecond;
/** As a Free key has it. */
const grant = {
  ...grantOfTests,
  permissions: ["admin", "read", "transactions:write", "bundles:write"] as const,
  buckets: {
    ...grantOfTests.buckets,
    send: [{ bucket: "send:acc_1", requestsPerSecond: sendRate, burst: 2 * sendRate }] as const,
  },
};
const allowance = 100_000;
const reset = "2026-12-01T00:00:00.000Z";

let engine: FakeBlockEngineService;
let credits: number;
let clock: ManualClock;
let facts: RequestFact[];
let sent: number;
let isTaken: boolean;
/** What a node says of a simulation. */
let simulation: JsonValue | Error;
let app: ReturnType<typeof createEngineHttp>;

beforeEach(() => {
  engine = new FakeBlockEngineService();
  credits = allowance;
  clock = new ManualClock(Date.UTC(2026, 10, 23));
  facts = [];
  sent = 0;
  isTaken = true;
  simulation = "simulated";
  app = createEngineHttp({
    network: "devnet",
    engine,
    access: accessOfTests({
      keys: { authenticate: () => grant, checkRestrictions: () => null },
      limits: createLimits({}, { clock }),
      credits: {
        take: (_account, _allowance, cost) => {
          const isPaid = credits >= cost;
          if (isPaid) credits -= cost;
          return Promise.resolve(isPaid);
        },
        refund: (_account, cost) => {
          credits += cost;
        },
        balance: () => ({ remaining: credits, resetsAtMs: Date.parse(reset) }),
      },
    }),
    clock,
    served: (fact) => void facts.push(fact),
    trustedProxies: compileAddressSet([]),
    requestId: () => "req_1",
    log: { error: () => {} },
    status: () => ({ service: "sluice-block-engine", version: "1", status: "ok", uptime: 5 }),
    encryptionKeys: () => ({ network: "devnet", keys: [] }),
    send: async () => {
      sent += 1;
      return isTaken;
    },
    simulate: async () => {
      if (simulation instanceof Error) throw simulation;
      return simulation;
    },
    nowMs: () => clock.now(),
    answered: () => {},
  });
});

interface Answer {
  readonly id: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

async function call(method: string, params: readonly unknown[], query = "") {
  const request = new Request(`http://engine/api/v1/transactions${query}`, {
    method: "POST",
    headers: { host: "engine", "x-api-key": "good", "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  // Each call from an address of its own: its rate is not what is asked for here.
  const response = await app.fetch(request, { socketAddress: `10.0.${facts.length % 250}.${Math.trunc(sent % 250)}` });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer };
}

const transactionTo = (to: Address): string =>
  Buffer.from(transfer({ from, to, lamports: 5n, blockhash: from.address })).toString("base64");
const plain = transactionTo(testSigner().address);
const tipped = (): string => transactionTo(engine.tipAccounts[0] ?? from.address);
const send = (data: string, query = "") => call("sendTransaction", [data, { encoding: "base64" }], query);

test("of 60 sends of a Free key at once as many pass as over the gateway, and each costs 10 credits", async () => {
  const answers = await Promise.all(Array.from({ length: 60 }, () => send(plain)));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200).length).toBe(2 * sendRate);
  expect(statuses.filter((status) => status === 429).length).toBe(60 - 2 * sendRate);
  expect([sent, credits]).toEqual([2 * sendRate, allowance - 10 * 2 * sendRate]);
  const refused = answers.filter(({ status }) => status === 429);
  for (const { headers, body } of refused) {
    expect(body).toMatchObject({ id: null, error: { code: -32_097 } });
    expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  }
  const { restSubmissionsPerSecond } = engineLimits;
  expect(refused.filter(({ headers }) => headers.get("x-ratelimit-limit") === String(sendRate)).length).toBe(
    restSubmissionsPerSecond - 2 * sendRate,
  );
  // The rest was over the rate of submissions, before it was known what was asked for: its record has the path.
  expect(facts.filter(({ method }) => method === "sendTransaction").length).toBe(restSubmissionsPerSecond);
  const others = facts.filter(({ method }) => method !== "sendTransaction").map(({ code }) => code);
  expect(others).toEqual(Array(60 - restSubmissionsPerSecond).fill("RATE_LIMIT_EXCEEDED"));
  expect(facts.reduce((sum, fact) => sum + fact.credits, 0)).toBe(allowance - credits);
  clock.advance(1_000);
  expect((await send(plain)).status).toBe(200);
});

test("the fact of a call names its account, key, network, endpoint, method, end and price", async () => {
  const { body } = await send(plain);
  expect(facts).toEqual([
    {
      at: clock.now(),
      requestId: "req_1",
      accountId: "acc_1",
      keyId: "key_1",
      network: "devnet",
      door: "engine",
      method: "sendTransaction",
      status: 200,
      rpcCode: null,
      latencyMs: 0,
      bytesIn: expect.any(Number),
      bytesOut: JSON.stringify(body).length,
      credits: 10,
      code: "",
      cache: "",
      upstream: "",
    },
  ]);
});

test("a transaction with a tip costs as another, and what lands as a bundle or not at all costs as a bundle: nothing", async () => {
  expect((await send(tipped())).status).toBe(200);
  expect([engine.submissions.length, sent, credits]).toEqual([1, 1, allowance - 10]);
  for (let index = 0; index < 2 * sendRate; index += 1) {
    expect((await send(tipped(), "?bundleOnly=true")).status).toBe(200);
  }
  expect((await call("sendBundle", [[tipped()], { encoding: "base64" }])).status).toBe(200);
  for (const method of ["getTipAccounts", "getBundleStatuses", "getInflightBundleStatuses"]) {
    expect((await call(method, [[]])).status).toBe(200);
  }
  expect([credits, facts.length]).toEqual([allowance - 10, 1]);
});

test("what this engine refuses, and what nobody takes, costs nothing", async () => {
  expect((await send("!")).status).toBe(400);
  expect((await call("sendTransaction", [5])).status).toBe(400);
  engine.refusal = { reason: "blockhash_expired", detail: null };
  expect((await send(tipped())).status).toBe(400);
  isTaken = false;
  expect((await send(plain)).status).toBe(503);
  engine.isInMaintenance = true;
  expect((await send(plain)).status).toBe(503);
  simulation = new EngineChainError("no node answered", null);
  expect((await call("simulateBundle", [{ encodedTransactions: ["a"] }])).status).toBe(503);
  simulation = new Error("a fault of the engine itself");
  expect((await call("simulateBundle", [{ encodedTransactions: ["a"] }])).status).toBe(500);
  expect(credits).toBe(allowance);
  expect(facts.map((fact) => [fact.status, fact.rpcCode, fact.credits])).toEqual([
    [400, -32_602, 0],
    [400, -32_602, 0],
    [400, -32_602, 0],
    [503, -32_603, 0],
    [503, -32_603, 0],
    [503, -32_603, 0],
    [500, -32_603, 0],
  ]);
});

test("simulateBundle costs 5 credits for each transaction, also when a node refuses it", async () => {
  const bundle = (count: number) => [{ encodedTransactions: Array.from({ length: count }, () => plain) }];
  await call("simulateBundle", bundle(20));
  expect(credits).toBe(allowance - 100);
  await call("simulateBundle", bundle(0));
  expect(credits).toBe(allowance - 105);
  simulation = new EngineChainError("bundle size too large", -32_602);
  expect(await call("simulateBundle", bundle(5))).toMatchObject({ status: 400, body: { error: { code: -32_602 } } });
  expect(credits).toBe(allowance - 130);
  expect(facts.map((fact) => [fact.method, fact.credits])).toEqual([
    ["simulateBundle", 100],
    ["simulateBundle", 5],
    ["simulateBundle", 25],
  ]);
});

test("a call that costs more than is left is 402 with its price, the rest and the month's end, and is not made", async () => {
  credits = 9;
  const { status, headers, body } = await send(plain);
  expect([status, headers.get("x-error-code"), headers.get("retry-after")]).toEqual([
    402,
    "INSUFFICIENT_CREDITS",
    null,
  ]);
  expect(body.id).toBe(1);
  expect(body.error).toMatchObject({
    code: -33_402,
    message: `The call costs 10 credits, and 9 are left until ${reset}`,
  });
  expect([sent, credits, facts[0]?.credits, facts[0]?.status]).toEqual([0, 9, 0, 402]);
  expect((await call("simulateBundle", [{ encodedTransactions: ["a"] }])).status).toBe(200);
  expect(credits).toBe(4);
});
