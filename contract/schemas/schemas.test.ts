import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { errorTable } from "../errors.ts";
import * as schemas from "./index.ts";
import { storedCount } from "./primitives.ts";

const keyBody = { account_id: "acc_1", name: "Bot", environment: "live" };

describe("management bodies", () => {
  test("a key created with the least has no restrictions, reads, sends transactions, and may use the enhanced API", () => {
    expect(schemas.keyCreate.parse(keyBody)).toEqual({
      account_id: "acc_1",
      name: "Bot",
      environment: "live",
      restrictions: { networks: [], domains: [], ipRanges: [] },
      permissions: ["read", "transactions:write"],
      methods: [],
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
    ["a method that no name is", { ...keyBody, methods: ["get-slot"] }],
    ["a method pattern without a beginning", { ...keyBody, methods: ["*"] }],
    ["a method pattern with a star inside", { ...keyBody, methods: ["get*Slot"] }],
    ["a very long method", { ...keyBody, methods: ["a".repeat(65)] }],
    ["very many methods", { ...keyBody, methods: Array.from({ length: 101 }, (_, index) => `m${index}`) }],
    ["an unknown permission", { ...keyBody, permissions: ["root"] }],
    ["an empty name", { ...keyBody, name: "  " }],
    ["a rate of nothing", { ...keyBody, requests_per_second: 0 }],
    ["a time without zone", { ...keyBody, expires_at: "2026-11-20T12:00:00.000" }],
    ["an unknown environment", { ...keyBody, environment: "test" }],
  ])("a new key with %s is refused", (_what, body) => {
    expect(schemas.keyCreate.safeParse(body).success).toBe(false);
  });

  test("a key's end is a time of any precision, in UTC or with an offset", () => {
    for (const expires_at of [
      "2026-12-01T00:00:00Z",
      "2026-12-01T00:00:00.5Z",
      "2026-12-01T02:00:00+02:00",
      "2026-12-01T00:00:00.000Z",
    ]) {
      expect(schemas.keyCreate.parse({ ...keyBody, expires_at }).expires_at).toBe(expires_at);
    }
  });

  test("what is not of the form is told in words with an example", () => {
    const wrong = {
      ...keyBody,
      restrictions: { domains: ["https://a.example/x"], ipRanges: ["1.2.3"] },
      permissions: ["sudo"],
      methods: ["get slot"],
      expires_at: "tomorrow",
    };
    const { error } = schemas.keyCreate.safeParse(wrong);
    expect(error?.issues.map(({ path, message }) => [path.join("."), message])).toEqual([
      [
        "restrictions.domains.0",
        "must be a host such as example.com, or *.example.com for its sub-domains, without scheme, port and path",
      ],
      [
        "restrictions.ipRanges.0",
        "must be an address such as 203.0.113.7, or a range such as 203.0.113.0/24 or 2001:db8::/32",
      ],
      ["permissions.0", "must be one of read, transactions:write, bundles:write, webhooks:write, keys:write, admin"],
      ["methods.0", "must be a method such as getBalance, or the beginning of several such as getToken*"],
      ["expires_at", "must be a time such as 2026-12-01T00:00:00Z or 2026-12-01T02:00:00+02:00"],
    ]);
    const headers = { "X Token": "a" };
    const node = { network: "devnet", label: "n", url: "http://n", headers };
    for (const [schema, body] of [
      [schemas.upstreamCreate, node],
      [schemas.accountChange, { credits_monthly: "many" }],
      [schemas.searcherLinkCreate, { account_id: "a", pubkey: "0OIl" }],
    ] as const) {
      const text = JSON.stringify(schema.safeParse(body).error?.issues.map(({ message }) => message));
      expect(text).toContain("must be");
      expect(text).not.toContain("^");
    }
  });

  test("a tier is changed only to a tier of the named product", () => {
    const isTaken = (tiers: object) => schemas.accountChange.safeParse({ tiers }).success;
    expect(isTaken({ platform: "business" })).toBe(true);
    expect(isTaken({ platform: "ultra" })).toBe(false);
    expect(isTaken({ oracle: "ultra", "oracle-v2": "developer" })).toBe(true);
    expect(isTaken({ "oracle-v2": "ultra" })).toBe(false);
  });

  test("a count that is stored is at most 2^63-1, as a decimal without needless digits", () => {
    const isTaken = (text: string): boolean => storedCount.safeParse(text).success;
    const most = 2n ** 63n - 1n;
    expect(["0", "1", "9".repeat(18), String(most - 1n), String(most)].filter((text) => !isTaken(text))).toEqual([]);
    const others = [String(most + 1n), `1${"0".repeat(19)}`, "9".repeat(19), "01", "-1", "1.0", "", " 1"];
    expect(others.filter(isTaken)).toEqual([]);
  });

  test("arbitrary bodies never make a schema throw", () => {
    fc.assert(
      fc.property(fc.anything(), (body) => {
        for (const schema of [
          schemas.keyCreate,
          schemas.accountCreate,
          schemas.accountChange,
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
      signedIn: true,
      network: "devnet",
      networkState: "unavailable",
      slot: null,
      blockHeight: null,
      transactionsPerSecond: null,
      doors: [{ name: "rpc", address: "http://127.0.0.1:8899/rpc", protocol: "JSON-RPC", status: "open" }],
      ledger: null,
      upstreams: [
        {
          label: "local",
          network: "devnet",
          health: "down",
          out: "silent",
          restsUntil: null,
          slot: null,
          slotLag: null,
          latencyMs: null,
        },
      ],
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
    expect(schemas.consoleOverview.parse({ ...overview, upstreams: null }).upstreams).toBeNull();
    const wrong = { ...overview, account: { ...overview.account, creditsUsed: 7 } };
    expect(schemas.consoleOverview.safeParse(wrong).success).toBe(false);
  });
});

test("the data of a test delivery are bounded in bytes, whatever letters they have", () => {
  const of = (letter: string) => ({ test_data: { text: letter.repeat(40_000) } });
  expect([of("e"), of("é")].map((test) => schemas.webhookTest.safeParse(test).success)).toEqual([true, false]);
});
