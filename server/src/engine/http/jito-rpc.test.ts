import { describe, expect, test } from "bun:test";
import { SluiceError } from "@sluice/contract/errors";
import { encodeBase58 } from "@sluice/wire/base58";
import type { Slot } from "@sluice/wire/identifiers";
import { EngineChainError } from "../model/chain-port.ts";
import { base64, HttpStand, transaction } from "./testing/http-stand.ts";

describe("Jito's JSON-RPC on the same paths", () => {
  test("what is busy is said in JSON-RPC, with the time to wait", async () => {
    const stand = new HttpStand();
    const call = { jsonrpc: "2.0", id: "a", method: "sendBundle", params: [[base64], { encoding: "base64" }] };
    stand.engine.error = new SluiceError("OVERLOADED");
    const busy = await stand.ask("/api/v1/bundles", { body: call });
    expect([busy.status, busy.headers.get("retry-after"), busy.body.id, busy.body.error.code]).toEqual([
      503,
      "1",
      "a",
      -32_603,
    ]);
    stand.engine.error = null;
    for (const [reason, status] of [
      ["maintenance", 503],
      ["rate_limited", 429],
    ] as const) {
      stand.engine.refusal = { reason, detail: null };
      const refused = await stand.ask("/api/v1/bundles", { body: call });
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([status, "1"]);
    }
  });

  test("sendBundle takes base58 by default and base64 when it is named, and answers the id", async () => {
    const stand = new HttpStand();
    const one = await stand.call("sendBundle", [[encodeBase58(transaction)]]);
    const other = await stand.call("sendBundle", [[base64], { encoding: "base64" }]);
    expect(one.body).toEqual({ jsonrpc: "2.0", result: other.body.result, id: "a" });
    expect(stand.engine.submissions.map(({ submission }) => [submission.ingress, submission.tip])).toEqual([
      ["jito-rpc", null],
      ["jito-rpc", null],
    ]);
  });

  test("what cannot be decoded, a refused bundle and an unknown method are errors with status 400", async () => {
    const stand = new HttpStand();
    const faults: [string, unknown, number, string, string?][] = [
      ["sendBundle", [["0OIl"]], -32_602, "transaction #0 could not be decoded"],
      ["sendBundle", "x", -32_602, "params must be an array"],
      ["sendBundle", [[base64], { encoding: "hex" }], -32_602, "encoding must be base58 or base64"],
      ["getBundleStatuses", [["1", "2", "3", "4", "5", "6"]], -32_602, "at most 5 bundle ids"],
      ["getFees", [], -32_601, "Method getFees not found", "METHOD_NOT_FOUND"],
    ];
    for (const [method, params, code, message, named = "INVALID_PARAMS"] of faults) {
      const { status, body, headers } = await stand.call(method, params);
      const data = { code: named, request_id: headers.get("x-request-id") };
      expect([status, body.error]).toEqual([400, { code, message, data }]);
      expect(headers.get("x-error-code")).toBe(named);
    }
    stand.engine.refusal = { reason: "tip_not_paid", detail: null };
    expect((await stand.call("sendBundle", [[base64], { encoding: "base64" }])).body.error.message).toBe(
      "Bundles must write lock at least one tip account to be eligible for the auction.",
    );
  });

  test("simulateBundle is a node's to answer, and its refusal is reported as it is", async () => {
    const stand = new HttpStand();
    const params = [{ encodedTransactions: [base64] }, { skipSigVerify: true }];
    stand.simulation = 2n ** 63n;
    const { status, body } = await stand.call("simulateBundle", params);
    expect([status, body.result]).toEqual([200, { value: 2 ** 63, params }]);
    stand.simulation = new EngineChainError("Method not found", -32_601);
    expect(await stand.call("simulateBundle", params)).toMatchObject({
      status: 400,
      body: { error: { code: -32_601, data: null } },
    });
    stand.simulation = new EngineChainError("no node answered", null);
    expect(await stand.call("simulateBundle", params)).toMatchObject({
      status: 503,
      body: { error: { code: -32_603, data: { code: "UNAVAILABLE", retry_after: 1 } } },
    });
  });

  test("a body that is no JSON is answered as JSON-RPC where nothing else is spoken, and as REST where both are", async () => {
    const stand = new HttpStand();
    const text = '{"jsonrpc":"2.0","id":1,';
    for (const path of ["/api/v1/transactions", "/api/v1/getTipAccounts"]) {
      const { status, body, headers } = await stand.ask(path, { text });
      const data = { code: "PARSE_ERROR", request_id: headers.get("x-request-id") };
      const error = { code: -32_700, message: "Parse error", data };
      expect([status, body]).toEqual([400, { jsonrpc: "2.0", error, id: null }]);
    }
    const shared = await stand.ask("/api/v1/bundles", { text });
    expect([shared.status, shared.body.code]).toEqual([400, "INVALID_INPUT"]);
    expect(shared.headers.get("content-type")).toBe("application/problem+json");
  });

  test("too many submissions are 429 with Jito's code and no id", async () => {
    const stand = new HttpStand();
    stand.decision = { allowed: false };
    const { status, body } = await stand.call("sendBundle", [[base64], { encoding: "base64" }]);
    expect([status, body.error.code, body.id]).toEqual([429, -32_097, null]);
    expect(body.error.data).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", retry_after: 3 });
    expect(body.error.message).toContain("Retry after 3000 ms");
  });

  test("statuses distinguish pending, landed, failed and unknown bundles", async () => {
    const stand = new HttpStand();
    const { body } = await stand.call("sendBundle", [[base64], { encoding: "base64" }]);
    const id = body.result;
    const inflight = async () => (await stand.call("getInflightBundleStatuses", [[id, "unknown"]])).body.result.value;
    expect(await inflight()).toEqual([
      { bundle_id: id, status: "Pending", landed_slot: null },
      { bundle_id: "unknown", status: "Invalid", landed_slot: null },
    ]);
    stand.engine.change(id, { to: "included", slot: 105n as Slot, blockhash: "hash", index: 0, tip: 5_000n });
    expect((await inflight())[0]).toEqual({ bundle_id: id, status: "Landed", landed_slot: 105 });
    const landed = (await stand.call("getBundleStatuses", [[id, "unknown"]])).body.result;
    expect(landed.context).toEqual({ slot: 100 });
    expect(landed.value).toMatchObject([{ bundle_id: id, slot: 105, confirmation_status: "confirmed" }, null]);
    stand.engine.change(id, { to: "dropped", reason: "fork" });
    expect((await inflight())[0].status).toBe("Failed");
  });

  const send = (stand: HttpStand, data: string, query = "") =>
    stand.call("sendTransaction", [data, { encoding: "base64" }], `/api/v1/transactions${query}`);

  test("sendTransaction is a bundle of one where it names a tip account, and an ordinary send where it names none", async () => {
    const stand = new HttpStand();
    const bundled = await send(stand, stand.tipped());
    expect(typeof bundled.body.result).toBe("string");
    expect(bundled.headers.get("x-bundle-id")).toBe([...stand.engine.records.keys()][0] ?? "");
    expect([stand.engine.submissions.length, stand.sent.length]).toEqual([1, 1]);
    const plain = await send(stand, base64);
    expect([plain.status, plain.headers.get("x-bundle-id")]).toEqual([200, null]);
    expect([stand.engine.submissions.length, stand.sent.length]).toEqual([1, 2]);
  });

  test("sendTransaction without preflight sends what fails as a bundle, but nothing that no leader would take", async () => {
    const stand = new HttpStand();
    for (const reason of ["tip_below_floor", "tip_not_paid", "no_leader", "simulation_failed"] as const) {
      stand.engine.refusal = { reason, detail: null };
      expect((await send(stand, stand.tipped())).status).toBe(200);
    }
    expect(stand.sent.length).toBe(4);
    for (const reason of ["blockhash_expired", "signature_invalid", "already_processed"] as const) {
      stand.engine.refusal = { reason, detail: null };
      const { status, headers } = await send(stand, stand.tipped());
      expect([status, headers.get("x-error-code")]).toEqual([400, reason]);
    }
    stand.engine.isInMaintenance = true;
    expect((await send(stand, base64)).status).toBe(503);
    expect(stand.sent.length).toBe(4);
  });

  test("each method needs what it does, whatever path it is called on, and a key with a list calls what is on it", async () => {
    const stand = new HttpStand();
    const codeOf = async (method: string): Promise<[number, number | undefined]> => {
      const { status, body } = await stand.call(method, []);
      return [status, body.error?.code];
    };
    stand.permissions = ["read", "bundles:write"];
    expect(await codeOf("sendTransaction")).toEqual([403, -33_433]);
    expect(await codeOf("sendBundle")).toEqual([400, -32_602]);
    stand.permissions = ["read", "transactions:write"];
    expect(await codeOf("sendBundle")).toEqual([403, -33_433]);
    expect(await codeOf("sendTransaction")).toEqual([400, -32_602]);
    stand.permissions = ["bundles:write"];
    expect(await codeOf("getTipAccounts")).toEqual([403, -33_433]);
    stand.permissions = ["read", "bundles:write"];
    stand.methods = { exact: new Set(["sendBundle"]), prefixes: [] };
    expect(await codeOf("getTipAccounts")).toEqual([403, -33_443]);
    expect(await codeOf("sendBundle")).toEqual([400, -32_602]);
    expect((await stand.ask("/api/v1/bundles/x")).status).toBe(404);
  });

  test("sendTransaction with bundleOnly in any spelling of yes is sent no other way", async () => {
    const stand = new HttpStand();
    for (const query of ["?bundleOnly=true", "?bundleOnly=TRUE", "?bundleOnly=1", "?bundleOnly"])
      await send(stand, base64, query);
    expect([stand.engine.submissions.length, stand.sent.length]).toEqual([4, 0]);
    stand.engine.refusal = { reason: "tip_not_paid", detail: null };
    expect((await send(stand, base64, "?bundleOnly=true")).status).toBe(400);
    expect(stand.sent.length).toBe(0);
    await send(stand, base64, "?bundleOnly=false");
    expect(stand.sent.length).toBe(1);
  });

  test("paths of its own refuse in its form for each refusal: the address's rate, the body's type and length", async () => {
    const stand = new HttpStand();
    const path = "/api/v1/transactions";
    const body = { jsonrpc: "2.0", id: "a", method: "sendTransaction", params: [] };
    const typed = await stand.ask(path, { body, headers: { "content-type": "text/plain" } });
    expect([typed.status, typed.body.error.code, typed.body.id]).toEqual([415, -33_415, null]);
    const long = await stand.ask(path, { body: { ...body, more: "x".repeat(70_000) } });
    expect([long.status, long.body.error.code]).toEqual([413, -33_414]);
    stand.spent = true;
    const often = await stand.ask(path, { body });
    expect([often.status, often.body.error.code]).toEqual([429, -32_097]);
    expect(Number(often.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect((await stand.ask(path)).body.code).toBe("RATE_LIMIT_EXCEEDED");
  });

  test("parameters that are no list, and keys that may not, have codes of their own and keep the id", async () => {
    const stand = new HttpStand();
    const { status, body } = await stand.call("getTipAccounts", { a: 1 });
    expect([status, body.id, body.error.code]).toEqual([400, "a", -32_602]);
    expect((await stand.call("getTipAccounts", null)).status).toBe(200);
    const request = { body: { jsonrpc: "2.0", id: "a", method: "getTipAccounts" } };
    for (const [key, expected] of [
      ["", [401, -33_401]],
      ["bad", [403, -33_401]],
    ] as const) {
      const refused = await stand.ask("/api/v1/bundles", { ...request, headers: { "x-api-key": key } });
      expect([refused.status, refused.body.error.code]).toEqual([...expected]);
      expect(refused.body.id).toBe("a");
    }
  });

  test("tip accounts are reported under the method's own path too", async () => {
    const stand = new HttpStand();
    const { body } = await stand.call("getTipAccounts", [], "/api/v1/getTipAccounts");
    expect(body.result).toEqual([...stand.engine.tipAccounts]);
  });

  test("the tip floor is Jito's record, in SOL", async () => {
    const stand = new HttpStand();
    const { body } = await stand.ask("/api/v1/bundles/tip_floor");
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
