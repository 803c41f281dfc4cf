import { expect, test } from "bun:test";
import { brokenRestriction, compileRestrictions, hostOf } from "./restrictions.ts";

const request = { network: "mainnet", origin: null, referer: null, clientAddress: "203.0.113.9" } as const;
const none = { networks: [], domains: [], ipRanges: [] };
const broken = (restrictions: object, changes: object = {}) =>
  brokenRestriction(compileRestrictions({ ...none, ...restrictions }), { ...request, ...changes });

test("a key without restrictions is bound by none", () => {
  expect(broken({})).toBeNull();
});

test("a restriction to networks has nothing to say of what belongs to none", () => {
  expect(broken({ networks: ["devnet"] }, { network: null })).toBeNull();
  expect(broken({ networks: ["devnet"], ipRanges: ["10.0.0.0/8"] }, { network: null })).toBe("IP_NOT_ALLOWED");
});

test("restrictions are checked in the order network, domain, address", () => {
  const all = { networks: ["devnet"], domains: ["example.com"], ipRanges: ["10.0.0.0/8"] };
  expect(broken(all)).toBe("NETWORK_NOT_ALLOWED");
  expect(broken(all, { network: "devnet" })).toBe("DOMAIN_NOT_ALLOWED");
  expect(broken(all, { network: "devnet", origin: "https://example.com" })).toBe("IP_NOT_ALLOWED");
  expect(broken(all, { network: "devnet", origin: "https://example.com", clientAddress: "10.1.1.1" })).toBeNull();
});

test("a domain is matched against the host of Origin, else of Referer, whatever port and letter case", () => {
  const domains = ["Example.com", "*.apps.example.org", "https://written-as-origin.example:8443", "bücher.example"];
  const evaluated = (origin: string | null, referer: string | null = null) => broken({ domains }, { origin, referer });
  expect(evaluated("https://EXAMPLE.com:3000")).toBeNull();
  expect(evaluated("http://a.b.apps.example.org")).toBeNull();
  expect(evaluated("https://written-as-origin.example")).toBeNull();
  expect(evaluated("https://xn--bcher-kva.example")).toBeNull();
  expect(evaluated(null, "https://example.com/page?x=https://other.example")).toBeNull();
  for (const origin of [
    "https://apps.example.org",
    "https://.apps.example.org",
    "https://evilapps.example.org",
    "https://example.com.evil.example",
    "https://evil.example/example.com",
    "https://example.com@evil.example",
    "chrome-extension://example.com",
    "example.com",
    "null",
    "",
  ]) {
    expect([origin, evaluated(origin)]).toEqual([origin, "DOMAIN_NOT_ALLOWED"]);
  }
});

test("a wrong Origin is not rescued by a right Referer, and having neither breaks the restriction", () => {
  expect(
    broken({ domains: ["example.com"] }, { origin: "https://evil.example", referer: "https://example.com/" }),
  ).toBe("DOMAIN_NOT_ALLOWED");
  expect(broken({ domains: ["example.com"] })).toBe("DOMAIN_NOT_ALLOWED");
});

test("a list of nothing but broken entries still restricts", () => {
  expect(broken({ domains: ["", "*", "*.*.com", "a b"] }, { origin: "https://example.com" })).toBe(
    "DOMAIN_NOT_ALLOWED",
  );
  expect(broken({ domains: ["*.*.com"] }, { origin: "https://x.*.com" })).toBe("DOMAIN_NOT_ALLOWED");
  expect(broken({ ipRanges: ["300.0.0.0/8"] })).toBe("IP_NOT_ALLOWED");
});

test("an address is matched against v4 and v6 ranges", () => {
  const ipRanges = ["203.0.113.0/24", "2001:db8::/32"];
  expect(broken({ ipRanges })).toBeNull();
  expect(broken({ ipRanges }, { clientAddress: "2001:db8:1::1" })).toBeNull();
  expect(broken({ ipRanges }, { clientAddress: "::ffff:203.0.113.1" })).toBeNull();
  expect(broken({ ipRanges }, { clientAddress: "203.0.114.1" })).toBe("IP_NOT_ALLOWED");
  expect(broken({ ipRanges }, { clientAddress: "" })).toBe("IP_NOT_ALLOWED");
});

test("hostOf drops the trailing dot that a fully qualified name may have", () => {
  expect(hostOf("https://example.com.")).toBe("example.com");
  expect(hostOf("https://[::1]:80/")).toBe("[::1]");
  expect(["https://.", "https://[", "https://", "ftp://example.com"].map(hostOf)).toEqual([null, null, null, null]);
});
