import { beforeEach, describe, expect, test } from "bun:test";
import { engineLimits } from "@sluice/contract/engine";
import { SluiceError } from "@sluice/contract/errors";
import type { Permission } from "@sluice/contract/tiers";
import { compileAddressSet, systemClock } from "@sluice/lib";
import { encodeBase58 } from "@sluice/wire/base58";
import type { Slot } from "@sluice/wire/identifiers";
import { accessOfTests, grantOfTests } from "../../access/testing/grants.ts";
import type { Grant } from "../../keys/index.ts";
import type { LimitDecision } from "../../limits/index.ts";
import { EngineChainError } from "../model/chain-port.ts";
import { FakeBlockEngineService } from "../testing/fake-service.ts";
import { testSigner, transfer } from "../testing/transactions.ts";
import { createEngineHttp } from "./http.ts";

const from = testSigner();
const transaction = transfer({ from, to: testSigner().address, lamports: 5n, blockhash: testSigner().address });
const base64 = Buffer.from(transaction).toString("base64");

let engine: FakeBlockEngineService;
let permissions: Permission[];
let methods: Grant["methods"];
let decision: Partial<LimitDecision>;
/** Whether every address has used up its rate. */
let spent: boolean;
let buckets: string[];
let sent: Uint8Array[];
/** What a node says of a simulation. */
let simulation: bigint | EngineChainError;
let answered: [string, number][];

function app() {
  return createEngineHttp({
    engine,
    access: accessOfTests({
      keys: {
        authenticate: (key) => {
          if (key === "stranger") return { ...grantOfTests, keyId: "other", accountId: "other", permissions };
          return key === "good"
            ? { ...grantOfTests, keyId: "key", accountId: "account", permissions, methods }
            : refusal(key);
        },
        checkRestrictions: (_grant, { clientAddress }) => (clientAddress === "10.0.0.9" ? "IP_NOT_ALLOWED" : null),
      },
      limits: {
        take: (bucket, limit, burst) => {
          buckets.push(bucket);
          const isOfAddress = bucket.startsWith("engine-address");
          const refuses = isOfAddress ? spent : decision.allowed === false;
          return { allowed: !refuses, limit, burst, remaining: 1, resetAt: 7, retryAfterSeconds: refuses ? 3 : 0 };
        },
      },
      credits: { take: () => true, refund: () => {}, balance: () => ({ remaining: 0, resetsAtMs: 0 }) },
    }),
    trustedProxies: compileAddressSet([]),
    requestId: () => "req_1",
    log: { error: () => {} },
    status: () => ({ service: "sluice-block-engine", version: "1", status: "ok", uptime: 5 }),
    encryptionKeys: () => ({ network: "devnet", keys: [] }),
    send: async (bytes) => {
      sent.push(bytes);
      return true;
    },
    simulate: async (params) => {
      if (simulation instanceof Error) throw simulation;
      return { value: simulation, params };
    },
    nowMs: () => 1_000,
    network: "devnet",
    clock: systemClock,
    served: () => {},
    answered: (route, status) => answered.push([route, status]),
  });
}

const refusal = (key: string | null) =>
  ({ ok: false, code: key === "busy" ? "OVERLOADED" : "INVALID_API_KEY" }) as const;

beforeEach(() => {
  engine = new FakeBlockEngineService();
  permissions = ["read", "transactions:write", "bundles:write"];
  methods = null;
  decision = {};
  spent = false;
  buckets = [];
  sent = [];
  simulation = 1n;
  answered = [];
});

interface Ask {
  readonly body?: unknown;
  readonly text?: string;
  readonly headers?: Record<string, string>;
  readonly method?: string;
  readonly address?: string;
}

async function ask(path: string, { body, text, headers = {}, method, address = "10.0.0.1" }: Ask = {}) {
  const content = text ?? (body === undefined ? undefined : JSON.stringify(body));
  const request = new Request(`http://engine${path}`, {
    method: method ?? (content === undefined ? "GET" : "POST"),
    headers: { host: "engine", "x-api-key": "good", "content-type": "application/json", ...headers },
    ...(content === undefined ? {} : { body: content }),
  });
  const response = await app().fetch(request, { socketAddress: address });
  return { status: response.status, headers: response.headers, body: JSON.parse((await response.text()) || "null") };
}

const bundle = { transactions: [{ data: base64, accounts: [] }], tip: 5_000, mevType: "Arbitrage" };

describe("who may ask", () => {
  test("anybody may read the status, and nothing else", async () => {
    expect(await ask("/api/v1/status", { headers: { "x-api-key": "" } })).toMatchObject({
      status: 200,
      body: { service: "sluice-block-engine", status: "ok", version: "1", uptime: 5 },
    });
    for (const path of ["/api/v1/bundles/x", "/api/v1/bundles/tip_floor", "/api/v1/encryption-keys"]) {
      const { status, body, headers } = await ask(path, { headers: { "x-api-key": "" } });
      expect([path, status, body.code]).toEqual([path, 401, "MISSING_API_KEY"]);
      expect(headers.get("www-authenticate")).toContain("Bearer");
    }
  });

  test("a HEAD is told the length of what a GET is answered", async () => {
    const get = await app().fetch(new Request("http://engine/api/v1/status", { headers: { host: "engine" } }));
    const head = await app().fetch(
      new Request("http://engine/api/v1/status", { method: "HEAD", headers: { host: "engine" } }),
    );
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect(head.headers.get("content-length")).toBe(String((await get.text()).length));
  });

  test("an invalid key, a missing permission and a forbidden address are 403, a store that fails 503", async () => {
    expect(await ask("/api/v1/bundles/x", { headers: { "x-api-key": "bad" } })).toMatchObject({
      status: 403,
      body: { code: "INVALID_API_KEY", instance: "req_1" },
    });
    expect((await ask("/api/v1/bundles/x", { address: "10.0.0.9" })).body).toMatchObject({
      code: "PERMISSION_DENIED",
      detail: "The API key may not be used from this address",
    });
    permissions = ["read"];
    expect(await ask("/api/v1/bundles", { body: bundle })).toMatchObject({ status: 403 });
    expect(await ask("/api/v1/bundles/x", { headers: { "x-api-key": "busy" } })).toMatchObject({ status: 503 });
  });

  test("a key is taken where Jito's clients put theirs", async () => {
    const none = { "x-api-key": "" };
    expect((await ask("/api/v1/bundles/x", { headers: { ...none, "x-jito-auth": "good" } })).status).toBe(404);
    expect((await ask("/api/v1/bundles/x?uuid=good", { headers: none })).status).toBe(404);
    expect((await ask("/api/v1/bundles/x", { headers: { ...none, authorization: "Bearer good" } })).status).toBe(404);
  });

  test("what is not there, or not so, costs its address as much as anything else", async () => {
    const asked = [
      ["/api/v1/nothing", "GET", 404, "NOT_FOUND"],
      ["/elsewhere", "POST", 404, "NOT_FOUND"],
      ["/api/v1/status", "PUT", 405, "METHOD_NOT_ALLOWED"],
      ["/api/v1/bundles/x", "DELETE", 405, "METHOD_NOT_ALLOWED"],
    ] as const;
    for (const [path, method, status, code] of asked) {
      const answer = await ask(path, { method });
      expect([answer.status, answer.body.code, answer.headers.get("x-ratelimit-remaining")]).toEqual([
        status,
        code,
        "1",
      ]);
    }
    expect(buckets).toEqual(asked.map(() => "engine-address:10.0.0.1"));
    expect(answered).toEqual(asked.map(([, , status]) => ["*", status]));
    spent = true;
    for (const [path, method] of asked) expect((await ask(path, { method })).status).toBe(429);
    expect((await ask("/api/v1/status")).status).toBe(429);
  });

  test("each address has a rate of its own, and each key one for submissions", async () => {
    await ask("/api/v1/bundles", { body: bundle });
    expect(buckets).toEqual(["engine-address:10.0.0.1", "engine-bundles:key"]);
    decision = { allowed: false };
    const { status, headers, body } = await ask("/api/v1/bundles", { body: bundle });
    expect([status, body.code, headers.get("retry-after")]).toEqual([429, "RATE_LIMIT_EXCEEDED", "3"]);
    expect(headers.get("x-ratelimit-limit")).toBe(String(engineLimits.restSubmissionsPerSecond));
    expect(headers.get("x-error-code")).toBe("RATE_LIMIT_EXCEEDED");
  });
});

describe("submission over REST", () => {
  test("is answered 202 with the bundle's id, and the bundle reaches the engine as it was sent", async () => {
    const { status, body } = await ask("/api/v1/bundles", { body: { ...bundle, targetSlot: 120 } });
    expect([status, body.status, typeof body.bundleId]).toEqual([202, "accepted", "string"]);
    expect(engine.submissions[0]).toMatchObject({
      searcher: { id: "account", accountId: "account", pubkey: null },
      submission: { tip: 5_000n, mevType: "arbitrage", targetSlot: 120n, sealed: null, ingress: "rest" },
    });
    expect(engine.submissions[0]?.submission.transactions.map((each) => [...each])).toEqual([[...transaction]]);
  });

  test("null stands for what is left out", async () => {
    const left = { mevType: null, targetSlot: null, encryptedPayload: null };
    const transactions = bundle.transactions.map((each) => ({ ...each, accounts: null }));
    expect((await ask("/api/v1/bundles", { body: { ...bundle, ...left, transactions } })).status).toBe(202);
    const { transactions: _none, mevType: _unknown, ...sealed } = bundle;
    const encryptedPayload = Buffer.from("envelope").toString("base64");
    expect((await ask("/api/v1/bundles", { body: { ...sealed, transactions: null, encryptedPayload } })).status).toBe(
      202,
    );
    expect(engine.submissions.map(({ submission }) => submission)).toMatchObject([
      { mevType: "unknown", targetSlot: null, sealed: null },
      { transactions: [], sealed: new Uint8Array(Buffer.from("envelope")) },
    ]);
  });

  test("a tip beyond 2^53 arrives as itself", async () => {
    const text = JSON.stringify(bundle).replace("5000", "18446744073709551615");
    await ask("/api/v1/bundles", { text });
    expect(engine.submissions[0]?.submission.tip).toBe(18_446_744_073_709_551_615n);
    expect((await ask("/api/v1/bundles", { text: text.replace("615", "616") })).status).toBe(400);
  });

  test("what is malformed is 400 and names its field; a refusal is 400 with its reason as code", async () => {
    const cases: [unknown, string][] = [
      [{ ...bundle, tip: -1 }, "INVALID_INPUT"],
      [{ ...bundle, tip: 1.5 }, "INVALID_INPUT"],
      [{ ...bundle, mevType: "theft" }, "INVALID_INPUT"],
      [{ ...bundle, transactions: "x" }, "INVALID_INPUT"],
      [{ ...bundle, transactions: [{ data: "@@@@" }] }, "bad_base64"],
      [[], "-32600"],
    ];
    for (const [body, code] of cases) {
      const answer = await ask("/api/v1/bundles", { body });
      expect([answer.status, String(answer.body.code ?? answer.body.error?.code)]).toEqual([400, code]);
    }
    const { body } = await ask("/api/v1/bundles", { body: { tip: "1", transactions: [{ data: 5 }] } });
    expect(body.errors).toEqual([
      { path: "transactions.0.data", message: expect.any(String) },
      { path: "tip", message: "must be a whole number from 0 to 18446744073709551615" },
    ]);
    engine.refusal = { reason: "tip_below_floor", detail: "the floor is 9 lamports" };
    expect(await ask("/api/v1/bundles", { body: bundle })).toMatchObject({
      status: 400,
      body: { code: "tip_below_floor", detail: "the floor is 9 lamports", status: 400 },
    });
    engine.refusal = { reason: "no_leader", detail: null };
    const { status, headers } = await ask("/api/v1/bundles", { body: bundle });
    expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
  });

  test("a member that is not known is 400, since it may be the one that the sender counts on", async () => {
    for (const more of [{ target_slot: 1_423 }, { mev_type: "jit" }, { encrypted_payload: "" }]) {
      const { status, body } = await ask("/api/v1/bundles", { body: { ...bundle, ...more } });
      expect([status, body.code]).toEqual([400, "INVALID_INPUT"]);
      expect(JSON.stringify(body.errors)).toContain(Object.keys(more)[0] ?? "");
    }
    const transactions = [{ data: base64, isWritable: true }];
    expect((await ask("/api/v1/bundles", { body: { ...bundle, transactions } })).status).toBe(400);
    expect(engine.submissions).toEqual([]);
  });

  test("a transaction that fails in simulation is refused with its error and what it logged", async () => {
    const logs = ["Program log: no", "Program failed: custom program error: 0x1"];
    engine.refusal = { reason: "simulation_failed", detail: "transaction 0: Custom", logs };
    const { body } = await ask("/api/v1/bundles", { body: bundle });
    expect(body).toMatchObject({ code: "simulation_failed", detail: "transaction 0: Custom", logs });
    engine.refusal = { reason: "tip_not_paid", detail: null };
    expect((await ask("/api/v1/bundles", { body: bundle })).body).not.toHaveProperty("logs");
  });

  test("how many transactions there are, and how long each is, is refused by the engine", async () => {
    const many = { ...bundle, transactions: Array.from({ length: 200 }, () => ({ data: "AQ==" })) };
    const long = { ...bundle, transactions: [{ data: "A".repeat(20_000) }] };
    for (const body of [many, long]) expect((await ask("/api/v1/bundles", { body })).status).toBe(202);
    expect(engine.submissions.map(({ submission }) => submission.transactions.length)).toEqual([200, 1]);
  });

  test("another content type, another method and a large body have their own statuses", async () => {
    expect((await ask("/api/v1/bundles", { body: bundle, headers: { "content-type": "text/plain" } })).status).toBe(
      415,
    );
    const wrong = await ask("/api/v1/bundles", { method: "DELETE" });
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST"]);
    const large = { ...bundle, more: "x".repeat(70_000) };
    expect((await ask("/api/v1/bundles", { body: large })).status).toBe(413);
    expect((await ask("/api/v1/bundles", { text: "{" })).body.code).toBe("INVALID_INPUT");
    expect((await ask("/api/v1/nothing")).status).toBe(404);
  });

  test("an internal error shows a request id and nothing else", async () => {
    engine.error = new Error("secret path");
    const { status, body } = await ask("/api/v1/bundles", { body: bundle });
    expect([status, body.code, body.instance]).toEqual([500, "INTERNAL_ERROR", "req_1"]);
    expect(JSON.stringify(body)).not.toContain("secret");
  });
});

describe("status of a bundle", () => {
  test("has its slot and signatures once it is in the chain, and an unknown one is 404", async () => {
    const { body } = await ask("/api/v1/bundles", { body: bundle });
    const path = `/api/v1/bundles/${body.bundleId}`;
    expect((await ask(path)).body).toMatchObject({ status: "accepted", slot: null, signatures: [] });
    engine.change(body.bundleId, { to: "included", slot: 105n as Slot, blockhash: "hash", index: 0, tip: 5_000n });
    expect((await ask(path)).body).toMatchObject({ bundleId: body.bundleId, status: "included", slot: 105 });
    engine.change(body.bundleId, { to: "finalized" });
    expect((await ask(path)).body.status).toBe("included");
    expect((await ask("/api/v1/bundles/unknown")).body.code).toBe("BUNDLE_NOT_FOUND");
    expect(answered.at(-1)).toEqual(["/api/v1/bundles/:id", 404]);
  });
});

describe("who may see a bundle", () => {
  const stranger = { "x-api-key": "stranger" };

  test("who submitted it, before a block holds it and after it was dropped; anybody while one does", async () => {
    const { body } = await ask("/api/v1/bundles", { body: bundle });
    const path = `/api/v1/bundles/${body.bundleId}`;
    const seen = async (headers = {}) => (await ask(path, { headers })).status;
    expect([await seen(), await seen(stranger)]).toEqual([200, 404]);
    expect((await ask(path, { headers: stranger })).body.code).toBe("BUNDLE_NOT_FOUND");
    engine.change(body.bundleId, { to: "included", slot: 105n as Slot, blockhash: "hash", index: 0, tip: 5_000n });
    expect([await seen(), await seen(stranger)]).toEqual([200, 200]);
    engine.change(body.bundleId, { to: "dropped", reason: "fork" });
    expect([await seen(), await seen(stranger)]).toEqual([200, 404]);
  });

  test("who submits it when it is known sees it from then on", async () => {
    const { body } = await ask("/api/v1/bundles", { body: bundle });
    const again = await ask("/api/v1/bundles", { body: bundle, headers: stranger });
    expect([again.status, again.body.bundleId]).toEqual([202, body.bundleId]);
    expect((await ask(`/api/v1/bundles/${body.bundleId}`, { headers: stranger })).status).toBe(200);
  });

  test("Jito's statuses say of another's bundle what they say of an unknown one", async () => {
    const { body } = await ask("/api/v1/bundles", { body: bundle });
    const call = { jsonrpc: "2.0", id: 1, method: "getInflightBundleStatuses", params: [[body.bundleId]] };
    const status = async (headers = {}) =>
      (await ask("/api/v1/bundles", { body: call, headers })).body.result.value[0].status;
    expect([await status(), await status(stranger)]).toEqual(["Pending", "Invalid"]);
  });

  test("the reason of a failed simulation has the program's error", async () => {
    const { body } = await ask("/api/v1/bundles", { body: bundle });
    const detail = 'transaction 0: {"InstructionError":[0,{"Custom":1}]}';
    engine.change(body.bundleId, { to: "dropped", reason: "simulation_failed", detail });
    expect((await ask(`/api/v1/bundles/${body.bundleId}`)).body.reason).toBe(`simulation_failed: ${detail}`);
  });
});

describe("Jito's JSON-RPC on the same paths", () => {
  const call = (method: string, params: unknown, path = "/api/v1/bundles") =>
    ask(path, { body: { jsonrpc: "2.0", id: "a", method, params } });

  test("what is busy is said in JSON-RPC, with the time to wait", async () => {
    const call = { jsonrpc: "2.0", id: "a", method: "sendBundle", params: [[base64], { encoding: "base64" }] };
    engine.error = new SluiceError("OVERLOADED");
    const busy = await ask("/api/v1/bundles", { body: call });
    expect([busy.status, busy.headers.get("retry-after"), busy.body.id, busy.body.error.code]).toEqual([
      503,
      "1",
      "a",
      -32_603,
    ]);
    engine.error = null;
    for (const [reason, status] of [
      ["maintenance", 503],
      ["rate_limited", 429],
    ] as const) {
      engine.refusal = { reason, detail: null };
      const refused = await ask("/api/v1/bundles", { body: call });
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([status, "1"]);
    }
  });

  test("sendBundle takes base58 by default and base64 when it is named, and answers the id", async () => {
    const one = await call("sendBundle", [[encodeBase58(transaction)]]);
    const other = await call("sendBundle", [[base64], { encoding: "base64" }]);
    expect(one.body).toEqual({ jsonrpc: "2.0", result: other.body.result, id: "a" });
    expect(engine.submissions.map(({ submission }) => [submission.ingress, submission.tip])).toEqual([
      ["jito-rpc", null],
      ["jito-rpc", null],
    ]);
  });

  test("what cannot be decoded, a refused bundle and an unknown method are errors with status 400", async () => {
    const faults: [string, unknown, number, string][] = [
      ["sendBundle", [["0OIl"]], -32_602, "transaction #0 could not be decoded"],
      ["sendBundle", "x", -32_602, "params must be an array"],
      ["sendBundle", [[base64], { encoding: "hex" }], -32_602, "encoding must be base58 or base64"],
      ["getBundleStatuses", [["1", "2", "3", "4", "5", "6"]], -32_602, "at most 5 bundle ids"],
      ["getFees", [], -32_601, "Method getFees not found"],
    ];
    for (const [method, params, code, message] of faults) {
      const { status, body } = await call(method, params);
      expect([status, body.error]).toEqual([400, { code, message, data: null }]);
    }
    engine.refusal = { reason: "tip_not_paid", detail: null };
    expect((await call("sendBundle", [[base64], { encoding: "base64" }])).body.error.message).toBe(
      "Bundles must write lock at least one tip account to be eligible for the auction.",
    );
  });

  test("simulateBundle is a node's to answer, and its refusal is reported as it is", async () => {
    const params = [{ encodedTransactions: [base64] }, { skipSigVerify: true }];
    simulation = 2n ** 63n;
    const { status, body } = await call("simulateBundle", params);
    expect([status, body.result]).toEqual([200, { value: 2 ** 63, params }]);
    simulation = new EngineChainError("Method not found", -32_601);
    expect(await call("simulateBundle", params)).toMatchObject({ status: 400, body: { error: { code: -32_601 } } });
    simulation = new EngineChainError("no node answered", null);
    expect(await call("simulateBundle", params)).toMatchObject({ status: 503, body: { error: { code: -32_603 } } });
  });

  test("a body that is no JSON is answered as JSON-RPC where nothing else is spoken, and as REST where both are", async () => {
    const text = '{"jsonrpc":"2.0","id":1,';
    for (const path of ["/api/v1/transactions", "/api/v1/getTipAccounts"]) {
      const { status, body } = await ask(path, { text });
      const error = { code: -32_700, message: "Parse error", data: null };
      expect([status, body]).toEqual([400, { jsonrpc: "2.0", error, id: null }]);
    }
    const shared = await ask("/api/v1/bundles", { text });
    expect([shared.status, shared.body.code]).toEqual([400, "INVALID_INPUT"]);
    expect(shared.headers.get("content-type")).toBe("application/problem+json");
  });

  test("too many submissions are 429 with Jito's code and no id", async () => {
    decision = { allowed: false };
    const { status, body } = await call("sendBundle", [[base64], { encoding: "base64" }]);
    expect([status, body.error.code, body.id]).toEqual([429, -32_097, null]);
    expect(body.error.message).toContain("Retry after 3000 ms");
  });

  test("statuses distinguish pending, landed, failed and unknown bundles", async () => {
    const { body } = await call("sendBundle", [[base64], { encoding: "base64" }]);
    const id = body.result;
    const inflight = async () => (await call("getInflightBundleStatuses", [[id, "unknown"]])).body.result.value;
    expect(await inflight()).toEqual([
      { bundle_id: id, status: "Pending", landed_slot: null },
      { bundle_id: "unknown", status: "Invalid", landed_slot: null },
    ]);
    engine.change(id, { to: "included", slot: 105n as Slot, blockhash: "hash", index: 0, tip: 5_000n });
    expect((await inflight())[0]).toEqual({ bundle_id: id, status: "Landed", landed_slot: 105 });
    const landed = (await call("getBundleStatuses", [[id, "unknown"]])).body.result;
    expect(landed.context).toEqual({ slot: 100 });
    expect(landed.value).toMatchObject([{ bundle_id: id, slot: 105, confirmation_status: "confirmed" }, null]);
    engine.change(id, { to: "dropped", reason: "fork" });
    expect((await inflight())[0].status).toBe("Failed");
  });

  const send = (data: string, query = "") =>
    call("sendTransaction", [data, { encoding: "base64" }], `/api/v1/transactions${query}`);
  const tipped = (): string => {
    const [to = from.address] = engine.tipAccounts;
    return Buffer.from(transfer({ from, to, lamports: 5n, blockhash: from.address })).toString("base64");
  };

  test("sendTransaction is a bundle of one where it names a tip account, and an ordinary send where it names none", async () => {
    const bundled = await send(tipped());
    expect(typeof bundled.body.result).toBe("string");
    expect(bundled.headers.get("x-bundle-id")).toBe([...engine.records.keys()][0] ?? "");
    expect([engine.submissions.length, sent.length]).toEqual([1, 1]);
    const plain = await send(base64);
    expect([plain.status, plain.headers.get("x-bundle-id")]).toEqual([200, null]);
    expect([engine.submissions.length, sent.length]).toEqual([1, 2]);
  });

  test("sendTransaction without preflight sends what fails as a bundle, but nothing that no leader would take", async () => {
    for (const reason of ["tip_below_floor", "tip_not_paid", "no_leader", "simulation_failed"] as const) {
      engine.refusal = { reason, detail: null };
      expect((await send(tipped())).status).toBe(200);
    }
    expect(sent.length).toBe(4);
    for (const reason of ["blockhash_expired", "signature_invalid", "already_processed"] as const) {
      engine.refusal = { reason, detail: null };
      const { status, headers } = await send(tipped());
      expect([status, headers.get("x-error-code")]).toEqual([400, reason]);
    }
    engine.isInMaintenance = true;
    expect((await send(base64)).status).toBe(503);
    expect(sent.length).toBe(4);
  });

  test("each method needs what it does, whatever path it is called on, and a key with a list calls what is on it", async () => {
    const codeOf = async (method: string): Promise<[number, number | undefined]> => {
      const { status, body } = await call(method, []);
      return [status, body.error?.code];
    };
    permissions = ["read", "bundles:write"];
    expect(await codeOf("sendTransaction")).toEqual([403, -33_433]);
    expect(await codeOf("sendBundle")).toEqual([400, -32_602]);
    permissions = ["read", "transactions:write"];
    expect(await codeOf("sendBundle")).toEqual([403, -33_433]);
    expect(await codeOf("sendTransaction")).toEqual([400, -32_602]);
    permissions = ["bundles:write"];
    expect(await codeOf("getTipAccounts")).toEqual([403, -33_433]);
    permissions = ["read", "bundles:write"];
    methods = { exact: new Set(["sendBundle"]), prefixes: [] };
    expect(await codeOf("getTipAccounts")).toEqual([403, -33_443]);
    expect(await codeOf("sendBundle")).toEqual([400, -32_602]);
    expect((await ask("/api/v1/bundles/x")).status).toBe(404);
  });

  test("sendTransaction with bundleOnly in any spelling of yes is sent no other way", async () => {
    for (const query of ["?bundleOnly=true", "?bundleOnly=TRUE", "?bundleOnly=1", "?bundleOnly"])
      await send(base64, query);
    expect([engine.submissions.length, sent.length]).toEqual([4, 0]);
    engine.refusal = { reason: "tip_not_paid", detail: null };
    expect((await send(base64, "?bundleOnly=true")).status).toBe(400);
    expect(sent.length).toBe(0);
    await send(base64, "?bundleOnly=false");
    expect(sent.length).toBe(1);
  });

  test("paths of its own refuse in its form for each refusal: the address's rate, the body's type and length", async () => {
    const path = "/api/v1/transactions";
    const body = { jsonrpc: "2.0", id: "a", method: "sendTransaction", params: [] };
    const typed = await ask(path, { body, headers: { "content-type": "text/plain" } });
    expect([typed.status, typed.body.error.code, typed.body.id]).toEqual([415, -33_415, null]);
    const long = await ask(path, { body: { ...body, more: "x".repeat(70_000) } });
    expect([long.status, long.body.error.code]).toEqual([413, -33_414]);
    spent = true;
    const often = await ask(path, { body });
    expect([often.status, often.body.error.code]).toEqual([429, -32_097]);
    expect(Number(often.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect((await ask(path)).body.code).toBe("RATE_LIMIT_EXCEEDED");
  });

  test("parameters that are no list, and keys that may not, have codes of their own and keep the id", async () => {
    const { status, body } = await call("getTipAccounts", { a: 1 });
    expect([status, body.id, body.error.code]).toEqual([400, "a", -32_602]);
    expect((await call("getTipAccounts", null)).status).toBe(200);
    const request = { body: { jsonrpc: "2.0", id: "a", method: "getTipAccounts" } };
    for (const [key, expected] of [
      ["", [401, -33_401]],
      ["bad", [403, -33_401]],
    ] as const) {
      const refused = await ask("/api/v1/bundles", { ...request, headers: { "x-api-key": key } });
      expect([refused.status, refused.body.error.code]).toEqual([...expected]);
      expect(refused.body.id).toBe("a");
    }
  });

  test("tip accounts are reported under the method's own path too", async () => {
    const { body } = await call("getTipAccounts", [], "/api/v1/getTipAccounts");
    expect(body.result).toEqual([...engine.tipAccounts]);
  });

  test("the tip floor is Jito's record, in SOL", async () => {
    const { body } = await ask("/api/v1/bundles/tip_floor");
    expect(body).toEqual([
      {
        time: "1970-01-01T00:00:00.000Z",
        landed_tips_25th_percentile: 1e-9,
        landed_tips_50th_percentile: 2e-9,
        landed_tips_75th_percentile: 3e-9,
        landed_tips_95th_percentile: 4e-9,
        landed_tips_99th_percentile: 5e-9,
        ema_landed_tips_50th_percentile: 2e-9,
      },
    ]);
  });
});

test("the tip stream's path asks for an upgrade where a request brings none", async () => {
  const { status, headers, body } = await ask("/api/v1/bundles/tip_stream");
  expect([status, headers.get("upgrade"), body.code]).toEqual([426, "websocket", "UPGRADE_REQUIRED"]);
});
