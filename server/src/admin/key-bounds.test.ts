import { expect, test } from "bun:test";
import { excessOf, type KeyPowers } from "./key-bounds.ts";

const nothing = { networks: [], domains: [], ipRanges: [] };
const powers = (changes: Partial<KeyPowers> = {}): KeyPowers => ({
  environment: "live",
  restrictions: nothing,
  permissions: ["read", "keys:write"],
  methods: [],
  enhanced: true,
  enhancedRequestsPerSecond: null,
  requestsPerSecond: null,
  expiresAt: null,
  ...changes,
});
const restricted = (changes: Partial<KeyPowers["restrictions"]>) =>
  powers({ restrictions: { ...nothing, ...changes } });

test("a key grants what it has and less", () => {
  const cases: readonly [KeyPowers, KeyPowers][] = [
    [powers(), powers()],
    [powers(), powers({ permissions: [], enhanced: false, requestsPerSecond: 1, expiresAt: 5, environment: "dev" })],
    [powers({ expiresAt: 5 }), powers({ expiresAt: 5 })],
    [powers(), powers({ methods: ["getSlot"] })],
    [powers({ methods: ["get*"] }), powers({ methods: ["getSlot", "getToken*", "get*"] })],
    [powers({ methods: ["getSlot", "getBlock*"] }), powers({ methods: ["getSlot", "getBlockTime"] })],
    [powers({ requestsPerSecond: 5 }), powers({ requestsPerSecond: 4 })],
    [powers({ enhanced: false }), powers({ enhanced: false, enhancedRequestsPerSecond: 9 })],
    [restricted({ networks: ["devnet", "mainnet"] }), restricted({ networks: ["devnet"] })],
    [restricted({ domains: ["*.example.com"] }), restricted({ domains: ["a.example.com", "*.b.example.com"] })],
    [restricted({ domains: ["*.example.com"] }), restricted({ domains: ["*.example.com"] })],
    [restricted({ ipRanges: ["10.0.0.0/8"] }), restricted({ ipRanges: ["10.1.0.0/16", "10.2.3.4", "10.0.0.0/8"] })],
    [restricted({ ipRanges: ["2001:db8::/32"] }), restricted({ ipRanges: ["2001:db8:1::/48"] })],
  ];
  for (const [own, requested] of cases) expect(excessOf(own, requested)).toBeNull();
});

test("whatever goes beyond what it has is named", () => {
  const cases: readonly [keyof KeyPowers, KeyPowers, KeyPowers][] = [
    ["permissions", powers(), powers({ permissions: ["read", "admin"] })],
    ["permissions", powers(), powers({ permissions: ["webhooks:write"] })],
    ["environment", powers({ environment: "dev" }), powers()],
    ["expiresAt", powers({ expiresAt: 5 }), powers({ expiresAt: 6 })],
    ["expiresAt", powers({ expiresAt: 5 }), powers()],
    ["methods", powers({ methods: ["getSlot"] }), powers()],
    ["methods", powers({ methods: ["getSlot"] }), powers({ methods: ["getSlot", "getBalance"] })],
    ["methods", powers({ methods: ["getSlot"] }), powers({ methods: ["getSlot*"] })],
    ["methods", powers({ methods: ["getToken*"] }), powers({ methods: ["get*"] })],
    ["methods", powers({ methods: ["getSlot*"] }), powers({ methods: ["getSlo*"] })],
    ["requestsPerSecond", powers({ requestsPerSecond: 5 }), powers()],
    ["requestsPerSecond", powers({ requestsPerSecond: 5 }), powers({ requestsPerSecond: 6 })],
    ["enhanced", powers({ enhanced: false }), powers()],
    ["enhancedRequestsPerSecond", powers({ enhancedRequestsPerSecond: 5 }), powers()],
    ["restrictions", restricted({ networks: ["devnet"] }), powers()],
    ["restrictions", restricted({ networks: ["devnet"] }), restricted({ networks: ["devnet", "mainnet"] })],
    ["restrictions", restricted({ domains: ["example.com"] }), restricted({ domains: ["*.example.com"] })],
    ["restrictions", restricted({ domains: ["*.example.com"] }), restricted({ domains: ["example.com"] })],
    ["restrictions", restricted({ domains: ["*.example.com"] }), restricted({ domains: ["evilexample.com"] })],
    ["restrictions", restricted({ ipRanges: ["10.0.0.0/8"] }), restricted({ ipRanges: ["10.0.0.0/7"] })],
    ["restrictions", restricted({ ipRanges: ["10.0.0.0/8"] }), restricted({ ipRanges: ["11.0.0.1"] })],
    ["restrictions", restricted({ ipRanges: ["10.0.0.0/8"] }), restricted({ ipRanges: ["::ffff:10.0.0.1/128"] })],
    ["restrictions", restricted({ ipRanges: ["0.0.0.0/0"] }), restricted({ ipRanges: ["::/0"] })],
  ];
  for (const [member, own, requested] of cases) expect([member, excessOf(own, requested)]).toEqual([member, member]);
});

test("an operator's key grants everything, but no operator's key that is wider than itself", () => {
  const office = { ...nothing, ipRanges: ["203.0.113.0/24"] };
  const own = powers({ permissions: ["admin"], restrictions: office, expiresAt: 5, environment: "dev" });
  expect(excessOf(own, powers({ permissions: ["read", "webhooks:write"] }))).toBeNull();
  expect(excessOf(own, { ...own, permissions: ["admin", "read"] })).toBeNull();
  expect(excessOf(own, { ...own, restrictions: nothing })).toBe("restrictions");
  expect(excessOf(own, { ...own, expiresAt: null })).toBe("expiresAt");
  expect(excessOf(own, { ...own, environment: "live" })).toBe("environment");
});
