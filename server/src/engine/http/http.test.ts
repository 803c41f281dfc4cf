import { describe, expect, test } from "bun:test";
import { engineLimits } from "@sluice/contract/engine";
import type { Slot } from "@sluice/wire/identifiers";
import { base64, HttpStand, transaction } from "./testing/http-stand.ts";

const bundle = { transactions: [{ data: base64, accounts: [] }], tip: 5_000, mevType: "Arbitrage" };

describe("who may ask", () => {
  test("anybody may read the status, and nothing else", async () => {
    const stand = new HttpStand();
    expect(await stand.ask("/api/v1/status", { headers: { "x-api-key": "" } })).toMatchObject({
      status: 200,
      body: { service: "sluice-block-engine", status: "ok", version: "1", uptime: 5 },
    });
    for (const path of ["/api/v1/bundles/x", "/api/v1/bundles/tip_floor", "/api/v1/encryption-keys"]) {
      const { status, body, headers } = await stand.ask(path, { headers: { "x-api-key": "" } });
      expect([path, status, body.code]).toEqual([path, 401, "MISSING_API_KEY"]);
      expect(headers.get("www-authenticate")).toContain("Bearer");
    }
  });

  test("a HEAD is told the length of what a GET is answered", async () => {
    const stand = new HttpStand();
    const get = await stand.fetch(new Request("http://engine/api/v1/status", { headers: { host: "engine" } }));
    const head = await stand.fetch(
      new Request("http://engine/api/v1/status", { method: "HEAD", headers: { host: "engine" } }),
    );
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect(head.headers.get("content-length")).toBe(String((await get.text()).length));
  });

  test("an invalid key, a missing permission and a forbidden address are 403, a store that fails 503", async () => {
    const stand = new HttpStand();
    expect(await stand.ask("/api/v1/bundles/x", { headers: { "x-api-key": "bad" } })).toMatchObject({
      status: 403,
      body: { code: "INVALID_API_KEY", instance: "req_1" },
    });
    expect((await stand.ask("/api/v1/bundles/x", { address: "10.0.0.9" })).body).toMatchObject({
      code: "PERMISSION_DENIED",
      detail: "The API key may not be used from this address",
    });
    stand.permissions = ["read"];
    expect(await stand.ask("/api/v1/bundles", { body: bundle })).toMatchObject({ status: 403 });
    expect(await stand.ask("/api/v1/bundles/x", { headers: { "x-api-key": "busy" } })).toMatchObject({ status: 503 });
  });

  test("a key is taken where Jito's clients put theirs", async () => {
    const stand = new HttpStand();
    const none = { "x-api-key": "" };
    expect((await stand.ask("/api/v1/bundles/x", { headers: { ...none, "x-jito-auth": "good" } })).status).toBe(404);
    expect((await stand.ask("/api/v1/bundles/x?uuid=good", { headers: none })).status).toBe(404);
    expect((await stand.ask("/api/v1/bundles/x", { headers: { ...none, authorization: "Bearer good" } })).status).toBe(
      404,
    );
  });

  test("what is not there, or not so, costs its address as much as anything else", async () => {
    const stand = new HttpStand();
    const asked = [
      ["/api/v1/nothing", "GET", 404, "NOT_FOUND"],
      ["/elsewhere", "POST", 404, "NOT_FOUND"],
      ["/api/v1/status", "PUT", 405, "METHOD_NOT_ALLOWED"],
      ["/api/v1/bundles/x", "DELETE", 405, "METHOD_NOT_ALLOWED"],
    ] as const;
    for (const [path, method, status, code] of asked) {
      const answer = await stand.ask(path, { method });
      expect([answer.status, answer.body.code, answer.headers.get("x-ratelimit-remaining")]).toEqual([
        status,
        code,
        "1",
      ]);
    }
    expect(stand.buckets).toEqual(asked.map(() => "engine-address:10.0.0.1"));
    expect(stand.answered).toEqual(asked.map(([, , status]) => ["*", status]));
    stand.spent = true;
    for (const [path, method] of asked) expect((await stand.ask(path, { method })).status).toBe(429);
    expect((await stand.ask("/api/v1/status")).status).toBe(429);
  });

  test("each address has a rate of its own, and each key one for submissions", async () => {
    const stand = new HttpStand();
    await stand.ask("/api/v1/bundles", { body: bundle });
    expect(stand.buckets).toEqual(["engine-address:10.0.0.1", "engine-bundles:key"]);
    stand.decision = { allowed: false };
    const { status, headers, body } = await stand.ask("/api/v1/bundles", { body: bundle });
    expect([status, body.code, headers.get("retry-after")]).toEqual([429, "RATE_LIMIT_EXCEEDED", "3"]);
    expect(headers.get("x-ratelimit-limit")).toBe(String(engineLimits.restSubmissionsPerSecond));
    expect(headers.get("x-error-code")).toBe("RATE_LIMIT_EXCEEDED");
  });
});

describe("submission over REST", () => {
  test("is answered 202 with the bundle's id, and the bundle reaches the engine as it was sent", async () => {
    const stand = new HttpStand();
    const { status, body } = await stand.ask("/api/v1/bundles", { body: { ...bundle, targetSlot: 120 } });
    expect([status, body.status, typeof body.bundleId]).toEqual([202, "accepted", "string"]);
    expect(stand.engine.submissions[0]).toMatchObject({
      searcher: { id: "account", accountId: "account", pubkey: null },
      submission: { tip: 5_000n, mevType: "arbitrage", targetSlot: 120n, sealed: null, ingress: "rest" },
    });
    expect(stand.engine.submissions[0]?.submission.transactions.map((each) => [...each])).toEqual([[...transaction]]);
  });

  test("null stands for what is left out", async () => {
    const stand = new HttpStand();
    const left = { mevType: null, targetSlot: null, encryptedPayload: null };
    const transactions = bundle.transactions.map((each) => ({ ...each, accounts: null }));
    expect((await stand.ask("/api/v1/bundles", { body: { ...bundle, ...left, transactions } })).status).toBe(202);
    const { transactions: _none, mevType: _unknown, ...sealed } = bundle;
    const encryptedPayload = Buffer.from("envelope").toString("base64");
    expect(
      (await stand.ask("/api/v1/bundles", { body: { ...sealed, transactions: null, encryptedPayload } })).status,
    ).toBe(202);
    expect(stand.engine.submissions.map(({ submission }) => submission)).toMatchObject([
      { mevType: "unknown", targetSlot: null, sealed: null },
      { transactions: [], sealed: new Uint8Array(Buffer.from("envelope")) },
    ]);
  });

  test("a tip beyond 2^53 arrives as itself", async () => {
    const stand = new HttpStand();
    const text = JSON.stringify(bundle).replace("5000", "18446744073709551615");
    await stand.ask("/api/v1/bundles", { text });
    expect(stand.engine.submissions[0]?.submission.tip).toBe(18_446_744_073_709_551_615n);
    expect((await stand.ask("/api/v1/bundles", { text: text.replace("615", "616") })).status).toBe(400);
  });

  test("what is malformed is 400 and names its field; a refusal is 400 with its reason as code", async () => {
    const stand = new HttpStand();
    const cases: [unknown, string][] = [
      [{ ...bundle, tip: -1 }, "INVALID_INPUT"],
      [{ ...bundle, tip: 1.5 }, "INVALID_INPUT"],
      [{ ...bundle, mevType: "theft" }, "INVALID_INPUT"],
      [{ ...bundle, transactions: "x" }, "INVALID_INPUT"],
      [{ ...bundle, transactions: [{ data: "@@@@" }] }, "bad_base64"],
      [[], "-32600"],
    ];
    for (const [body, code] of cases) {
      const answer = await stand.ask("/api/v1/bundles", { body });
      expect([answer.status, String(answer.body.code ?? answer.body.error?.code)]).toEqual([400, code]);
    }
    const { body } = await stand.ask("/api/v1/bundles", { body: { tip: "1", transactions: [{ data: 5 }] } });
    expect(body.errors).toEqual([
      { path: "transactions.0.data", message: expect.any(String) },
      { path: "tip", message: "must be a whole number from 0 to 18446744073709551615" },
    ]);
    stand.engine.refusal = { reason: "tip_below_floor", detail: "the floor is 9 lamports" };
    expect(await stand.ask("/api/v1/bundles", { body: bundle })).toMatchObject({
      status: 400,
      body: { code: "tip_below_floor", detail: "the floor is 9 lamports", status: 400 },
    });
    stand.engine.refusal = { reason: "no_leader", detail: null };
    const { status, headers } = await stand.ask("/api/v1/bundles", { body: bundle });
    expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
  });

  test("a body with a coding is 415 and says which it may have, over REST and JSON-RPC; in another charset 415 alone", async () => {
    const stand = new HttpStand();
    const gzip = { "content-encoding": "gzip" };
    const utf16 = { "content-type": "application/json; charset=utf-16" };
    for (const [path, headers, accepts] of [
      ["/api/v1/bundles", gzip, "identity"],
      ["/api/v1/transactions", gzip, "identity"],
      ["/api/v1/bundles", utf16, null],
    ] as const) {
      const answer = await stand.ask(path, { body: bundle, headers });
      expect([answer.status, answer.headers.get("x-error-code")]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
      expect(answer.headers.get("accept-encoding")).toBe(accepts);
    }
    expect(stand.engine.submissions).toEqual([]);
  });

  test("what is refused to a known key is recorded with its code, whatever refused it; what is taken is not", async () => {
    const stand = new HttpStand();
    const path = "/api/v1/bundles";
    expect((await stand.ask(path, { body: bundle })).status).toBe(202);
    expect((await stand.ask(path, { body: bundle, headers: { "x-api-key": "bad" } })).status).toBe(403);
    expect(stand.facts).toEqual([]);
    stand.engine.refusal = { reason: "tip_below_floor", detail: null };
    const refused = await stand.ask(path, { body: bundle });
    await stand.ask(path, { body: { ...bundle, tip: -1 } });
    await stand.ask("/api/v1/bundles/none");
    await stand.call("getFees", []);
    stand.decision = { allowed: false };
    await stand.ask(path, { body: bundle });
    await stand.call("sendBundle", [[], { encoding: "base64" }]);
    stand.permissions = [];
    await stand.ask(path, { body: bundle });
    await stand.ask(path, { body: bundle, address: "10.0.0.9" });
    expect(stand.facts.map(({ method, status, code, credits }) => [method, status, code, credits])).toEqual([
      ["/api/v1/bundles", 400, "tip_below_floor", 0],
      ["/api/v1/bundles", 400, "INVALID_INPUT", 0],
      ["/api/v1/bundles/:id", 404, "BUNDLE_NOT_FOUND", 0],
      ["/api/v1/bundles", 400, "METHOD_NOT_FOUND", 0],
      ["/api/v1/bundles", 429, "RATE_LIMIT_EXCEEDED", 0],
      ["/api/v1/bundles", 429, "RATE_LIMIT_EXCEEDED", 0],
      ["/api/v1/bundles", 403, "PERMISSION_DENIED", 0],
      ["/api/v1/bundles", 403, "PERMISSION_DENIED", 0],
    ]);
    const [first] = stand.facts;
    expect(first).toMatchObject({ accountId: "account", door: "engine", network: "devnet", requestId: "req_1" });
    expect(first?.bytesOut).toBe(JSON.stringify(refused.body).length);
  });

  test("a request that is refused before its key is looked at has a record where the key is in memory", async () => {
    const stand = new HttpStand();
    const path = "/api/v1/bundles";
    await stand.ask(path, { text: "{" });
    await stand.call("getTipAccounts", [], "/api/v1/getTipAccounts");
    await stand.ask("/api/v1/transactions", { text: "{" });
    stand.spent = true;
    const secret = "/api/v1/a-path-of-the-callers-own";
    const refused = await stand.ask(secret, { headers: { "x-api-key": "", "x-jito-auth": "good" } });
    for (const key of ["", "bad", "busy"]) await stand.ask(path, { headers: { "x-api-key": key } });
    expect(stand.facts.map(({ accountId, method, status, code }) => [accountId, method, status, code])).toEqual([
      ["account", "/api/v1/bundles", 400, "INVALID_INPUT"],
      ["account", "/api/v1/transactions", 400, "PARSE_ERROR"],
      ["account", "*", 429, "RATE_LIMIT_EXCEEDED"],
    ]);
    expect(stand.facts.at(-1)).toMatchObject({ requestId: "req_1", bytesOut: JSON.stringify(refused.body).length });
  });

  test("a key that was looked at and refused has no record, though it is in memory", async () => {
    const stand = new HttpStand();
    stand.isRefused = true;
    expect((await stand.ask("/api/v1/bundles/x")).status).toBe(403);
    expect(stand.facts).toEqual([]);
  });

  test("a fault of this engine is recorded for the account under the id that the caller is told, and shows nothing", async () => {
    const stand = new HttpStand();
    stand.engine.error = new Error("a secret");
    const faults = [
      await stand.ask("/api/v1/bundles", { body: bundle }),
      await stand.call("sendBundle", [[base64], { encoding: "base64" }]),
      await stand.call(
        "sendTransaction",
        [stand.tipped(), { encoding: "base64" }],
        "/api/v1/transactions?bundleOnly=1",
      ),
      await stand.call("sendTransaction", [stand.tipped(), { encoding: "base64" }], "/api/v1/transactions"),
    ];
    expect(faults.map(({ status, headers }) => [status, headers.get("x-error-code")])).toEqual(
      faults.map(() => [500, "INTERNAL_ERROR"]),
    );
    expect(JSON.stringify(faults)).not.toContain("secret");
    // In the form that the clients of the path read.
    expect(faults[0]?.body).toMatchObject({ code: "INTERNAL_ERROR", instance: "req_1" });
    expect(faults[3]?.body).toMatchObject({
      jsonrpc: "2.0",
      error: { code: -32_603, data: { code: "INTERNAL_ERROR", request_id: "req_1" } },
    });
    expect(stand.facts.map(({ requestId, method, status, code }) => [requestId, method, status, code])).toEqual([
      ["req_1", "/api/v1/bundles", 500, "INTERNAL_ERROR"],
      ["req_1", "/api/v1/bundles", 500, "INTERNAL_ERROR"],
      ["req_1", "/api/v1/transactions", 500, "INTERNAL_ERROR"],
      ["req_1", "sendTransaction", 500, "INTERNAL_ERROR"],
    ]);
  });

  test("a member that is not known is 400, since it may be the one that the sender counts on", async () => {
    const stand = new HttpStand();
    for (const more of [{ target_slot: 1_423 }, { mev_type: "jit" }, { encrypted_payload: "" }]) {
      const { status, body } = await stand.ask("/api/v1/bundles", { body: { ...bundle, ...more } });
      expect([status, body.code]).toEqual([400, "INVALID_INPUT"]);
      expect(JSON.stringify(body.errors)).toContain(Object.keys(more)[0] ?? "");
    }
    const transactions = [{ data: base64, isWritable: true }];
    expect((await stand.ask("/api/v1/bundles", { body: { ...bundle, transactions } })).status).toBe(400);
    expect(stand.engine.submissions).toEqual([]);
  });

  test("a transaction that fails in simulation is refused with its error and what it logged", async () => {
    const stand = new HttpStand();
    const logs = ["Program log: no", "Program failed: custom program error: 0x1"];
    stand.engine.refusal = { reason: "simulation_failed", detail: "transaction 0: Custom", logs };
    const { body } = await stand.ask("/api/v1/bundles", { body: bundle });
    expect(body).toMatchObject({ code: "simulation_failed", detail: "transaction 0: Custom", logs });
    stand.engine.refusal = { reason: "tip_not_paid", detail: null };
    expect((await stand.ask("/api/v1/bundles", { body: bundle })).body).not.toHaveProperty("logs");
  });

  test("how many transactions there are, and how long each is, is refused by the engine", async () => {
    const stand = new HttpStand();
    const many = { ...bundle, transactions: Array.from({ length: 200 }, () => ({ data: "AQ==" })) };
    const long = { ...bundle, transactions: [{ data: "A".repeat(20_000) }] };
    for (const body of [many, long]) expect((await stand.ask("/api/v1/bundles", { body })).status).toBe(202);
    expect(stand.engine.submissions.map(({ submission }) => submission.transactions.length)).toEqual([200, 1]);
  });

  test("another content type, another method and a large body have their own statuses", async () => {
    const stand = new HttpStand();
    expect(
      (await stand.ask("/api/v1/bundles", { body: bundle, headers: { "content-type": "text/plain" } })).status,
    ).toBe(415);
    const wrong = await stand.ask("/api/v1/bundles", { method: "DELETE" });
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST"]);
    const large = { ...bundle, more: "x".repeat(70_000) };
    expect((await stand.ask("/api/v1/bundles", { body: large })).status).toBe(413);
    expect((await stand.ask("/api/v1/bundles", { text: "{" })).body.code).toBe("INVALID_INPUT");
    expect((await stand.ask("/api/v1/nothing")).status).toBe(404);
  });

  test("an internal error shows a request id and nothing else", async () => {
    const stand = new HttpStand();
    stand.engine.error = new Error("secret path");
    const { status, body } = await stand.ask("/api/v1/bundles", { body: bundle });
    expect([status, body.code, body.instance]).toEqual([500, "INTERNAL_ERROR", "req_1"]);
    expect(JSON.stringify(body)).not.toContain("secret");
  });
});

describe("status of a bundle", () => {
  test("has its slot and signatures once it is in the chain, and an unknown one is 404", async () => {
    const stand = new HttpStand();
    const { body } = await stand.ask("/api/v1/bundles", { body: bundle });
    const path = `/api/v1/bundles/${body.bundleId}`;
    expect((await stand.ask(path)).body).toMatchObject({ status: "accepted", slot: null, signatures: [] });
    stand.engine.change(body.bundleId, {
      to: "included",
      slot: 105n as Slot,
      blockhash: "hash",
      index: 0,
      tip: 5_000n,
    });
    expect((await stand.ask(path)).body).toMatchObject({ bundleId: body.bundleId, status: "included", slot: 105 });
    stand.engine.change(body.bundleId, { to: "finalized" });
    expect((await stand.ask(path)).body.status).toBe("included");
    expect((await stand.ask("/api/v1/bundles/unknown")).body.code).toBe("BUNDLE_NOT_FOUND");
    expect(stand.answered.at(-1)).toEqual(["/api/v1/bundles/:id", 404]);
  });
});

describe("who may see a bundle", () => {
  const stranger = { "x-api-key": "stranger" };

  test("who submitted it, before a block holds it and after it was dropped; anybody while one does", async () => {
    const stand = new HttpStand();
    const { body } = await stand.ask("/api/v1/bundles", { body: bundle });
    const path = `/api/v1/bundles/${body.bundleId}`;
    const seen = async (headers = {}) => (await stand.ask(path, { headers })).status;
    expect([await seen(), await seen(stranger)]).toEqual([200, 404]);
    expect((await stand.ask(path, { headers: stranger })).body.code).toBe("BUNDLE_NOT_FOUND");
    stand.engine.change(body.bundleId, {
      to: "included",
      slot: 105n as Slot,
      blockhash: "hash",
      index: 0,
      tip: 5_000n,
    });
    expect([await seen(), await seen(stranger)]).toEqual([200, 200]);
    stand.engine.change(body.bundleId, { to: "dropped", reason: "fork" });
    expect([await seen(), await seen(stranger)]).toEqual([200, 404]);
  });

  test("who submits it when it is known sees it from then on", async () => {
    const stand = new HttpStand();
    const { body } = await stand.ask("/api/v1/bundles", { body: bundle });
    const again = await stand.ask("/api/v1/bundles", { body: bundle, headers: stranger });
    expect([again.status, again.body.bundleId]).toEqual([202, body.bundleId]);
    expect((await stand.ask(`/api/v1/bundles/${body.bundleId}`, { headers: stranger })).status).toBe(200);
  });

  test("Jito's statuses say of another's bundle what they say of an unknown one", async () => {
    const stand = new HttpStand();
    const { body } = await stand.ask("/api/v1/bundles", { body: bundle });
    const call = { jsonrpc: "2.0", id: 1, method: "getInflightBundleStatuses", params: [[body.bundleId]] };
    const status = async (headers = {}) =>
      (await stand.ask("/api/v1/bundles", { body: call, headers })).body.result.value[0].status;
    expect([await status(), await status(stranger)]).toEqual(["Pending", "Invalid"]);
  });

  test("the reason of a failed simulation has the program's error", async () => {
    const stand = new HttpStand();
    const { body } = await stand.ask("/api/v1/bundles", { body: bundle });
    const detail = 'transaction 0: {"InstructionError":[0,{"Custom":1}]}';
    stand.engine.change(body.bundleId, { to: "dropped", reason: "simulation_failed", detail });
    expect((await stand.ask(`/api/v1/bundles/${body.bundleId}`)).body.reason).toBe(`simulation_failed: ${detail}`);
  });
});

test("the tip stream's path asks for an upgrade where a request brings none", async () => {
  const stand = new HttpStand();
  const { status, headers, body } = await stand.ask("/api/v1/bundles/tip_stream");
  expect([status, headers.get("upgrade"), body.code]).toEqual([426, "websocket", "UPGRADE_REQUIRED"]);
});
