import { expect, test } from "bun:test";
import { compileAddressSet } from "@sluice/lib";
import type { Grant, KeyRefusal, RateBucket, RestrictionCode } from "../keys/index.ts";
import type { LimitDecision } from "../limits/index.ts";
import { Access, type AccessDependencies } from "./access.ts";
import { methodRefusalText } from "./refusal.ts";
import { accessOfTests, grantOfTests } from "./testing/grants.ts";

const caller = { origin: null, referer: null, clientAddress: "203.0.113.9" };

/** Access over keys that answer the outcome, and find this restriction broken on that network. */
function overKeys(
  outcome: Grant | KeyRefusal | Promise<Grant | KeyRefusal>,
  broken: RestrictionCode | null = null,
  asked: unknown[] = [],
): Access {
  const keys: AccessDependencies["keys"] = {
    authenticate: () => outcome,
    remembered: (key) => (key === "k" && outcome instanceof Promise === false && outcome.ok ? outcome : null),
    checkRestrictions: (_grant, request) => {
      asked.push(request.network);
      return broken;
    },
  };
  return accessOfTests({ keys });
}

test("a request is admitted by key, then restrictions, then permissions: the first that refuses is what is told", async () => {
  const unknown: KeyRefusal = { ok: false, code: "INVALID_API_KEY" };
  const reader: Grant = { ...grantOfTests, permissions: ["read"] };
  for (const inTime of [<T>(value: T) => value, <T>(value: T) => Promise.resolve(value)]) {
    expect(await overKeys(inTime(unknown), "IP_NOT_ALLOWED").admit("k", caller, ["admin"])).toBe(unknown);
    expect(await overKeys(inTime(reader), "IP_NOT_ALLOWED").admit("k", caller, ["admin"])).toEqual({
      ok: false,
      code: "IP_NOT_ALLOWED",
      grant: reader,
    });
    expect(await overKeys(inTime(reader)).admit("k", caller, ["admin", "bundles:write"])).toEqual({
      ok: false,
      code: "PERMISSION_DENIED",
      grant: reader,
    });
    expect(await overKeys(inTime(reader)).admit("k", caller, ["admin", "read"])).toBe(reader);
    expect(await overKeys(inTime(reader)).admit("k", caller)).toBe(reader);
  }
});

test("a key is held against the network that access was made for, and against none where requests belong to none", () => {
  const asked: unknown[] = [];
  const access = overKeys(grantOfTests, null, asked);
  access.admit("k", caller);
  access.on("devnet").admit("k", caller);
  expect(asked).toEqual([null, "devnet"]);
});

test("a client's address is what a trusted proxy says, and a stranger's own", () => {
  const keys = { authenticate: () => grantOfTests, remembered: () => null, checkRestrictions: () => null };
  const parts = { keys, limits: { take: () => decision("a", true) }, credits: creditsOf([]) };
  const access = new Access({ trustedProxies: compileAddressSet(["10.0.0.0/8"]) }, parts);
  const headers = new Headers({
    origin: "https://a.example",
    "x-forwarded-for": "8.8.8.8",
    "x-forwarded-proto": "https",
  });
  expect(access.callerOf(headers, "10.0.0.1")).toEqual({
    origin: "https://a.example",
    referer: null,
    clientAddress: "8.8.8.8",
  });
  expect(access.callerOf(headers, "203.0.113.9").clientAddress).toBe("203.0.113.9");
  expect([access.isOverTls(headers, "10.0.0.1"), access.isOverTls(headers, "203.0.113.9")]).toEqual([true, false]);
});

test("a call needs its method's permission, and its place on the key's list where there is one", () => {
  const access = accessOfTests({});
  const reader: Grant = { ...grantOfTests, permissions: ["read"] };
  const listed: Grant = { ...reader, methods: { exact: new Set(["getBalance"]), prefixes: [] } };
  expect(access.permitMethod(reader, "getBalance")).toBeNull();
  expect(access.permitMethod(reader, "sendTransaction")).toEqual({
    ok: false,
    code: "PERMISSION_DENIED",
    grant: reader,
  });
  expect(access.permitMethod(listed, "getBalance")).toBeNull();
  expect(access.permitMethod(listed, "getSlot")).toEqual({ ok: false, code: "METHOD_NOT_PERMITTED", grant: listed });
  expect(access.permitMethod(listed, "sendTransaction")?.code).toBe("PERMISSION_DENIED");
});

test("a refused call is told which permission it lacks, or that it is not on the list, with at most 64 characters of its name", () => {
  const denied = { ok: false, code: "PERMISSION_DENIED" } as const;
  const unlisted = { ok: false, code: "METHOD_NOT_PERMITTED" } as const;
  expect(methodRefusalText(denied, "getSlot")).toBe("The API key needs the permission read to call getSlot");
  expect(methodRefusalText(unlisted, "getSlot")).toBe("The API key may not call getSlot");
  expect(methodRefusalText(unlisted, "x".repeat(65))).toBe(`The API key may not call ${"x".repeat(64)}`);
});

const bucket = (name: string): RateBucket => ({ bucket: name, requestsPerSecond: 10, burst: 20 });
const decision = (name: string, allowed: boolean): LimitDecision => ({
  allowed,
  limit: name.charCodeAt(0),
  burst: 20,
  remaining: 1,
  resetAt: 0,
  retryAfterSeconds: 0,
});

interface Metering {
  readonly decision: LimitDecision;
  readonly isSynchronous: boolean;
  readonly taken: readonly string[];
}

/** Meters a request of the buckets named, each of which is as given: the capital ones answer in a promise. */
async function metered(buckets: string, refusing = "", cost?: number): Promise<Metering> {
  const taken: string[] = [];
  const access = accessOfTests({
    limits: {
      take: (name, rate, burst, tokens) => {
        if (taken.length === buckets.length) throw new Error("more was taken than there are buckets");
        taken.push(`${name} ${tokens} of ${rate}, ${burst}`);
        const decided = decision(name, !refusing.includes(name));
        return name === name.toUpperCase() ? Promise.resolve(decided) : decided;
      },
    },
  });
  const [first = "", ...wider] = [...buckets];
  const outcome = access.meter([bucket(first), ...wider.map(bucket)], cost);
  return { decision: await outcome, isSynchronous: !(outcome instanceof Promise), taken };
}

test("a request takes from each of its buckets once and in order, and is told the narrowest, whichever of them answer at once", async () => {
  for (const buckets of ["a", "A", "ab", "aB", "Ab", "AB", "abc", "abC", "aBc", "aBC", "Abc", "AbC", "ABC"]) {
    const taken = [...buckets].map((name) => `${name} 1 of 10, 20`);
    const isSynchronous = buckets === buckets.toLowerCase();
    expect(await metered(buckets)).toEqual({ decision: decision(buckets.charAt(0), true), isSynchronous, taken });
  }
});

test("the answer of a single bucket is passed on as it is, so that nobody waits for more than the bucket", () => {
  const answer = Promise.resolve(decision("a", true));
  const access = accessOfTests({ limits: { take: () => answer } });
  expect(access.meter([bucket("a")])).toBe(answer);
});

test("the first bucket that refuses decides, and the wider ones behind it are not asked", async () => {
  for (const buckets of ["abc", "abC", "aBc", "aBC", "Abc", "AbC", "ABc", "ABC"]) {
    for (let at = 0; at < buckets.length; at += 1) {
      const outcome = await metered(buckets, buckets.slice(at));
      expect(outcome.decision).toEqual(decision(buckets.charAt(at), false));
      expect(outcome.taken).toHaveLength(at + 1);
    }
  }
});

test("a request that costs more takes as much from each bucket", async () => {
  for (const buckets of ["ab", "AB", "aB"]) {
    expect((await metered(buckets, "", 7)).taken).toEqual([...buckets].map((name) => `${name} 7 of 10, 20`));
  }
});

/** Credits that note what is asked of them; 5 are left until December. */
const creditsOf = (asked: unknown[]): AccessDependencies["credits"] => ({
  take: (...taking) => {
    asked.push(["take", ...taking]);
    return false;
  },
  refund: (...refunding) => void asked.push(["refund", ...refunding]),
  balance: (accountId) => {
    asked.push(["balance", accountId]);
    return { remaining: 5, resetsAtMs: Date.UTC(2026, 11, 1) };
  },
});

test("what costs nothing is never refused for want of credits; all else is taken from and refunded to the account", () => {
  const asked: unknown[] = [];
  const access = accessOfTests({ credits: creditsOf(asked) });
  const account = { accountId: "acc_1", creditsMonthly: 100n };
  expect(access.charge(account, 0)).toBe(true);
  expect(asked).toEqual([]);
  expect(access.charge(account, 1)).toBe(false);
  access.refund(account, 3, 1_800_000_000_000);
  expect(asked).toEqual([
    ["take", "acc_1", 100n, 1],
    ["refund", "acc_1", 3, 1_800_000_000_000],
  ]);
});

test("too few credits are explained by the price, what is left and when the next month begins", () => {
  const access = accessOfTests({ credits: creditsOf([]) });
  const reset = "2026-12-01T00:00:00.000Z";
  expect(access.shortage({ accountId: "acc_1" }, 10)).toEqual({
    message: `The call costs 10 credits, and 5 are left until ${reset}`,
    details: { price: 10, remaining: 5, reset },
  });
  expect(access.shortage({ accountId: "acc_1" }, 10, "batch").message).toContain("The batch costs 10");
});
