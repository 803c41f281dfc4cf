import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type ConsoleStand, consoleHost, nodesOfTests, openConsoleStand } from "./testing/console-stand.ts";

let stand: ConsoleStand;
let accountId: string;

beforeEach(async () => {
  stand = await openConsoleStand();
  accountId = await stand.account();
});
afterEach(async () => await stand[Symbol.asyncDispose]());

/** The status of the overview, and the code of its failure. */
async function seen(headers: Record<string, string>, socketAddress?: string): Promise<string> {
  const answer = await stand.ask("overview", { headers, ...(socketAddress === undefined ? {} : { socketAddress }) });
  return answer.ok ? "seen" : ((await answer.json()) as { code: string }).code;
}

describe("a session", () => {
  test("ends with the key that opened it: revoked, disabled", async () => {
    for (const status of ["revoked", "disabled"] as const) {
      const { id, key } = await stand.key(accountId, ["read"]);
      const cookie = await stand.signIn(key);
      expect(await seen({ cookie })).toBe("seen");
      await stand.state.keys.setStatus(id, status);
      expect(await seen({ cookie })).toBe("INVALID_API_KEY");
    }
  });

  test("opens nothing while its account is disabled", async () => {
    const cookie = await stand.signIn((await stand.key(accountId, ["read"])).key);
    await stand.state.accounts.setDisabled(accountId, true);
    expect(await seen({ cookie })).toBe("INVALID_API_KEY");
    await stand.state.accounts.setDisabled(accountId, false);
    expect(await seen({ cookie })).toBe("seen");
  });

  test("ends when its key expires", async () => {
    const { key } = await stand.key(accountId, ["read"], { expiresAt: stand.clock.now() + 1_000 });
    const cookie = await stand.signIn(key);
    expect(await seen({ cookie })).toBe("seen");
    stand.clock.advance(1_000);
    expect(await seen({ cookie })).toBe("INVALID_API_KEY");
  });

  test("has the restrictions and permissions that its key has now", async () => {
    const { id, key } = await stand.key(accountId, ["read"]);
    const cookie = await stand.signIn(key);
    const none = { networks: [], domains: [], ipRanges: [] };
    const cases = [
      [{ restrictions: { ...none, networks: ["devnet" as const] } }, "NETWORK_NOT_ALLOWED"],
      [{ restrictions: { ...none, ipRanges: ["203.0.113.0/24"] } }, "IP_NOT_ALLOWED"],
      [{ restrictions: none, permissions: ["bundles:write" as const] }, "PERMISSION_DENIED"],
      [{ permissions: ["read" as const] }, "seen"],
    ] as const;
    for (const [changes, expected] of cases) {
      await stand.state.keys.update(id, changes);
      expect(await seen({ cookie })).toBe(expected);
    }
  });

  test("is one of ten of its account: one more ends the oldest", async () => {
    const { key } = await stand.key(accountId, ["read"]);
    const cookies: string[] = [];
    for (let index = 0; index < 11; index += 1) {
      stand.clock.advance(1);
      cookies.push(await stand.signIn(key));
    }
    const outcomes = await Promise.all(cookies.map((cookie) => seen({ cookie })));
    expect(outcomes).toEqual(["INVALID_API_KEY", ...Array(10).fill("seen")]);
  });

  test("is in a cookie that is Secure when a trusted proxy says that the browser is on TLS, and only then", async () => {
    await using proxied = await openConsoleStand({ trustedProxies: ["127.0.0.0/8"] });
    const { key } = await proxied.key(await proxied.account(), ["read"]);
    const cookieOf = async (proto: string | null, socketAddress: string, method = "POST"): Promise<string> => {
      const headers = { origin: `https://${consoleHost}`, ...(proto === null ? {} : { "x-forwarded-proto": proto }) };
      const body = method === "POST" ? { body: { key } } : {};
      const answer = await proxied.ask("session", { method, headers, socketAddress, ...body });
      return answer.headers.get("set-cookie") ?? "";
    };
    for (const proto of ["https", "HTTPS", "https, http"]) {
      expect(await cookieOf(proto, "127.0.0.1")).toMatch(/; HttpOnly; SameSite=Strict; Max-Age=604800; Secure$/);
    }
    expect(await cookieOf("https", "::ffff:127.0.0.1", "DELETE")).toMatch(/=; Path=\/; .*; Max-Age=0; Secure$/);
    for (const [proto, address] of [
      ["http", "127.0.0.1"],
      ["http, https", "127.0.0.1"],
      [null, "127.0.0.1"],
      ["https", "198.51.100.7"],
    ] as const) {
      expect(await cookieOf(proto, address)).not.toContain("Secure");
    }
  });

  test("opens at the operator's address behind a proxy that puts another Host there, and at no third", async () => {
    await using named = await openConsoleStand({ publicUrl: "https://rpc.example" });
    const { key } = await named.key(await named.account(), ["read"]);
    const signIn = (origin: string) => named.ask("session", { method: "POST", headers: { origin }, body: { key } });
    const opened = await signIn("https://rpc.example");
    expect([opened.status, opened.headers.get("set-cookie")]).toEqual([200, expect.stringMatching(/; Secure$/)]);
    expect((await signIn(`http://${consoleHost}`)).headers.get("set-cookie")).toEndWith("; Secure");
    for (const origin of [
      "http://rpc.example",
      "https://rpc.example.evil.example",
      "https://rpc.example:444",
      "null",
    ]) {
      expect((await signIn(origin)).status).toBe(403);
    }
    await using plain = await openConsoleStand({ publicUrl: "http://rpc.example" });
    const other = await plain.key(await plain.account(), ["read"]);
    const headers = { origin: "http://rpc.example" };
    const cookie = await plain.ask("session", { method: "POST", headers, body: { key: other.key } });
    expect([cookie.status, cookie.headers.get("set-cookie")?.includes("Secure")]).toEqual([200, false]);
  });
});

describe("a key", () => {
  test("needs the permission read to sign in and to be shown anything; admin has it", async () => {
    const narrow = await stand.key(accountId, ["bundles:write", "keys:write"]);
    const none = await stand.key(accountId, []);
    const operator = await stand.key(accountId, ["admin"]);
    for (const { key } of [narrow, none]) {
      expect(await seen({ "x-api-key": key })).toBe("PERMISSION_DENIED");
      await expect(stand.signIn(key)).rejects.toThrow("needs the permission read");
    }
    expect(await seen({ "x-api-key": operator.key })).toBe("seen");
    expect(await seen({ cookie: await stand.signIn(operator.key) })).toBe("seen");
  });

  test("pays for each request with its rate, however it is shown; every answer states what is left", async () => {
    const { key } = await stand.key(await stand.account("free"), ["read"]);
    const cookie = await stand.signIn(key);
    const paths = ["overview", "prices", "names?input=a", "bundles", "bundles/x"];
    for (let left = 18; left >= 0; left -= 1) {
      const headers: Record<string, string> = left % 2 === 0 ? { cookie } : { "x-api-key": key };
      const answer = await stand.ask(paths[left % paths.length] ?? "", { headers });
      expect([left, answer.headers.get("x-ratelimit-remaining"), answer.headers.get("x-ratelimit-limit")]).toEqual([
        left,
        String(left),
        "10",
      ]);
    }
    for (const path of [...paths, "live", "prices/live"]) {
      const { status, headers } = await stand.ask(path, { headers: { cookie } });
      expect([path, status, headers.get("x-ratelimit-burst"), headers.get("retry-after")]).toEqual([
        path,
        429,
        "20",
        "1",
      ]);
    }
    await expect(stand.signIn(key)).rejects.toThrow("RATE_LIMIT_EXCEEDED");
  });
});

describe("who is shown what", () => {
  test("prices are as old as the account's tier of the oracle is served them; an operator sees the newest", async () => {
    const reader = await stand.key(accountId, ["read"]);
    const operator = await stand.key(accountId, ["admin"]);
    const frequency = async ({ key }: { key: string }): Promise<string> => {
      const answer = await stand.ask("prices", { headers: { "x-api-key": key } });
      return ((await answer.json()) as { observedAt: string }).observedAt;
    };
    expect([await frequency(reader), await frequency(operator)]).toEqual(["every 60 s", "every 1 s"]);
    await stand.state.accounts.setTier(accountId, "oracle", "professional");
    expect(await frequency(reader)).toBe("every 15 s");
  });

  test("the overview tells slot and height of the chain, and none where no node tells them", async () => {
    const reader = await stand.key(accountId, ["read"]);
    const position = async () => {
      const answer = await stand.ask("overview", { headers: { "x-api-key": reader.key } });
      const { slot, blockHeight } = (await answer.json()) as { slot: unknown; blockHeight: unknown };
      return [slot, blockHeight];
    };
    stand.isSilent = true;
    expect(await position()).toEqual([null, null]);
    stand.isSilent = false;
    expect(await position()).toEqual([5, 4]);
  });

  test("nodes, other networks and the operator's endpoints are for admin now; others are told how the network does", async () => {
    const operator = await stand.key(accountId, ["admin"]);
    const reader = await stand.key(accountId, ["read"]);
    const overview = async (headers: Record<string, string>) => {
      const body = (await (await stand.ask("overview", { headers })).json()) as Record<string, unknown>;
      return [
        (body["doors"] as { name: string }[]).map(({ name }) => name),
        body["upstreams"],
        body["networkState"],
        body["ledger"],
      ];
    };
    const tables = [
      {
        name: "requests",
        holds: "a row for each request that was served",
        rows: 5,
        bytes: 1_000,
        oldest_at: "2026-10-01T00:00:00.000Z",
        kept: "62d",
        least: "62d",
      },
      {
        name: "oracle_ticks",
        holds: "prices of single exchanges",
        rows: 0,
        bytes: 0,
        oldest_at: null,
        kept: null,
        least: "1d",
      },
    ];
    const forOperators = [["rpc", "metrics"], [...nodesOfTests], "operational", tables];
    const forCustomers = [["rpc"], null, "operational", null];
    const cookie = await stand.signIn(operator.key);
    expect(await overview({ cookie })).toEqual(forOperators);
    expect(await overview({ "x-api-key": operator.key })).toEqual(forOperators);
    expect(await overview({ "x-api-key": reader.key })).toEqual(forCustomers);
    expect(await overview({ cookie: await stand.signIn(reader.key) })).toEqual(forCustomers);
    await stand.state.keys.update(operator.id, { permissions: ["read"] });
    expect(await overview({ cookie })).toEqual(forCustomers);
    const [node] = nodesOfTests;
    for (const [nodes, state] of [
      [[{ ...node, health: "cordoned" }, nodesOfTests[1]], "degraded"],
      [[nodesOfTests[1], { ...node, network: "devnet" }], "unavailable"],
      [[], "unavailable"],
    ] as const) {
      stand.nodes = nodes as typeof nodesOfTests;
      expect(await overview({ "x-api-key": reader.key })).toEqual([["rpc"], null, state, null]);
    }
  });

  test("a development console is open to a browser of this machine that comes by itself, and to nothing else", async () => {
    const local = { host: consoleHost };
    expect(await seen(local, "127.0.0.1")).toBe("INVALID_API_KEY");
    stand.openAccount = accountId;
    for (const address of ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
      expect(await seen(local, address)).toBe("seen");
    expect(await seen({ ...local, "sec-fetch-site": "same-origin" }, "127.0.0.1")).toBe("seen");
    const { upstreams } = (await (await stand.ask("overview", { headers: local, socketAddress: "::1" })).json()) as {
      upstreams: unknown;
    };
    expect(upstreams).toEqual([...nodesOfTests]);
    for (const address of ["198.51.100.7", "10.0.0.1", "fe80::1", ""]) {
      expect([address, await seen(local, address)]).toEqual([address, "INVALID_API_KEY"]);
    }
    for (const [name, value] of [
      ["host", "evil.example"],
      ["host", "localhost.evil.example"],
      ["sec-fetch-site", "cross-site"],
      ["x-forwarded-for", "127.0.0.1"],
      ["x-forwarded-for", "8.8.8.8"],
      ["x-real-ip", "8.8.8.8"],
      ["forwarded", "for=127.0.0.1"],
      ["via", "1.1 proxy"],
    ] as const) {
      expect([name, value, await seen({ ...local, [name]: value }, "127.0.0.1")]).toEqual([
        name,
        value,
        "INVALID_API_KEY",
      ]);
    }
  });
});
