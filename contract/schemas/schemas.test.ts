import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { errorTable } from "../errors.ts";
import * as schemas from "./index.ts";

const keyBody = { account_id: "acc_1", name: "Bot", environment: "live" };

describe("management bodies", () => {
  test("a key created with the least has no restrictions, reads, and may use the enhanced API", () => {
    expect(schemas.keyCreate.parse(keyBody)).toEqual({
      account_id: "acc_1",
      name: "Bot",
      environment: "live",
      restrictions: { networks: [], domains: [], ipRanges: [] },
      permissions: ["read"],
      enhanced: true,
      enhanced_requests_per_second: null,
      requests_per_second: null,
      expires_at: null,
    });
  });

  test("restrictions take networks, domains and address ranges of both families", () => {
    const restrictions = {
      networks: ["devnet"],
      domains: ["Example.com", "*.example.com", "localhost"],
      ipRanges: ["10.0.0.0/8", "203.0.113.7", "2001:db8::/32", "::1"],
    };
    expect(schemas.keyCreate.parse({ ...keyBody, restrictions }).restrictions.domains[0]).toBe("example.com");
  });

  test.each([
    ["an unknown member", { ...keyBody, admin: true }],
    ["an unknown member of the restrictions", { ...keyBody, restrictions: { hosts: [] } }],
    ["an unknown network", { ...keyBody, restrictions: { networks: ["x1"] } }],
    ["a domain with a path", { ...keyBody, restrictions: { domains: ["example.com/a"] } }],
    ["a domain with a port", { ...keyBody, restrictions: { domains: ["example.com:80"] } }],
    ["a range that is none", { ...keyBody, restrictions: { ipRanges: ["10.0.0.0/33"] } }],
    ["an unknown permission", { ...keyBody, permissions: ["root"] }],
    ["an empty name", { ...keyBody, name: "  " }],
    ["a rate of nothing", { ...keyBody, requests_per_second: 0 }],
    ["a time without zone", { ...keyBody, expires_at: "2026-11-20T12:00:00.000" }],
    ["an unknown environment", { ...keyBody, environment: "test" }],
  ])("a new key with %s is refused", (_what, body) => {
    expect(schemas.keyCreate.safeParse(body).success).toBe(false);
  });

  test("a tier is changed only to a tier of the named product", () => {
    expect(schemas.accountTierChange.safeParse({ product: "platform", tier: "business" }).success).toBe(true);
    expect(schemas.accountTierChange.safeParse({ product: "platform", tier: "ultra" }).success).toBe(false);
    expect(schemas.accountTierChange.safeParse({ product: "oracle", tier: "ultra" }).success).toBe(true);
  });

  test("arbitrary bodies never make a schema throw", () => {
    fc.assert(
      fc.property(fc.anything(), (body) => {
        for (const schema of [
          schemas.keyCreate,
          schemas.accountCreate,
          schemas.accountTierChange,
          schemas.jsonRpcRequest,
        ]) {
          schema.safeParse(body);
        }
      }),
    );
  });
});

describe("read bodies", () => {
  test("a JSON-RPC call keeps its form: version, id and method are needed, params are positional", () => {
    const call = { jsonrpc: "2.0", id: 1, method: "getSlot" };
    expect(schemas.jsonRpcRequest.safeParse(call).success).toBe(true);
    expect(schemas.jsonRpcRequest.safeParse({ ...call, extra: 1 }).success).toBe(true);
    expect(schemas.jsonRpcRequest.safeParse({ ...call, id: null }).success).toBe(false);
    expect(schemas.jsonRpcRequest.safeParse({ ...call, jsonrpc: "1.0" }).success).toBe(false);
    expect(schemas.jsonRpcRequest.safeParse({ ...call, params: {} }).success).toBe(false);
    expect(schemas.jsonRpcBatchRequest.safeParse(Array(101).fill(call)).success).toBe(false);
  });

  test("a page has 50 items unless asked, and at most 1000", () => {
    expect(schemas.pageQuery.parse({})).toEqual({ limit: 50 });
    expect(schemas.pageQuery.parse({ limit: "1000", cursor: "c" })).toEqual({ limit: 1000, cursor: "c" });
    for (const limit of ["0", "1001", "1.5", "many"])
      expect(schemas.pageQuery.safeParse({ limit }).success).toBe(false);
  });

  test("a problem can be written for each code of the error table", () => {
    for (const [code, { status, text }] of Object.entries(errorTable)) {
      if (status < 400) continue;
      const problem = { type: "/docs/errors", title: text, status, instance: "req", code };
      expect(schemas.problemDetails.safeParse(problem).success).toBe(true);
    }
  });

  test("an overview may lack what is not known yet, and holds credits past 2^53", () => {
    const overview = {
      network: "devnet",
      slot: null,
      blockHeight: null,
      transactionsPerSecond: null,
      doors: [{ name: "rpc", address: "http://127.0.0.1:8899/rpc", protocol: "JSON-RPC", status: "open" }],
      upstreams: [{ label: "local", network: "devnet", health: "down", slot: null, slotLag: null, latencyMs: null }],
      lastHour: {
        requests: 1,
        errors: 0,
        credits: 5,
        byMinute: [{ minute: "2026-11-20T12:00:00.000Z", requests: 1, credits: 5 }],
      },
      account: { name: "Dev", tier: "enterprise", creditsUsed: "18446744073709551615", creditsMonthly: null },
      version: "0.1.0",
      uptimeSeconds: 3,
      observedAt: "2026-11-20T12:00:00.000Z",
    };
    expect(schemas.consoleOverview.parse(overview)).toEqual(overview as never);
    const wrong = { ...overview, account: { ...overview.account, creditsUsed: 7 } };
    expect(schemas.consoleOverview.safeParse(wrong).success).toBe(false);
  });
});
