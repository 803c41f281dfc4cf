import { expect, test } from "bun:test";
import fc from "fast-check";
import ipaddr from "ipaddr.js";
import { compileAddressSet, isAddressRange, normaliseAddress, parseIpv4 } from "./addresses.ts";

test("parseIpv4 reads every dotted-decimal address and nothing that other parsers read as octal, hex or short", () => {
  fc.assert(
    fc.property(fc.ipV4(), (text) => {
      const [a = 0, b = 0, c = 0, d = 0] = text.split(".").map(Number);
      expect(parseIpv4(text)).toBe(((a * 256 + b) * 256 + c) * 256 + d);
    }),
  );
  for (const text of [
    "",
    "1.2.3",
    "1.2.3.4.5",
    "01.2.3.4",
    "1.2.3.256",
    "0x7f.0.0.1",
    "127.1",
    "1..2.3",
    "1.2.3.",
    "2130706433",
    " 1.2.3.4",
    "1.2.3.a",
    "1.2.3.:",
    "1000.2.3.4",
    "0.0.0.0000",
  ]) {
    expect(parseIpv4(text)).toBe(-1);
  }
});

test("normaliseAddress gives one spelling to each address", () => {
  expect(normaliseAddress("::ffff:10.1.2.3")).toBe("10.1.2.3");
  expect(normaliseAddress("::FFFF:0a01:0203")).toBe("10.1.2.3");
  expect(normaliseAddress("2001:DB8:0:0:0:0:0:1")).toBe("2001:db8::1");
  expect(normaliseAddress("fe80::1%eth0")).toBe("fe80::1");
  expect(normaliseAddress("0.0.0.0")).toBe("0.0.0.0");
  expect(normaliseAddress("unknown")).toBeNull();
  expect(normaliseAddress("10.1.2.3:80")).toBeNull();
});

test("a compiled set agrees with ipaddr.js on random IPv4 ranges", () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.ipV4(), fc.integer({ min: 0, max: 32 }), (address, network, bits) => {
      const expected = ipaddr.IPv4.parse(address).match(ipaddr.IPv4.parse(network), bits);
      const set = compileAddressSet([`${network}/${bits}`]);
      expect(set.contains(address)).toBe(expected);
      expect(set.contains(`::ffff:${address}`)).toBe(expected);
    }),
  );
});

test("a compiled set holds v6 ranges, single addresses and mapped ranges", () => {
  const set = compileAddressSet(["2001:db8::/32", "192.0.2.7", "::ffff:10.0.0.0/104", "fd00::1"]);
  expect(set.contains("2001:db8:1::5")).toBe(true);
  expect(set.contains("2001:db9::")).toBe(false);
  expect(set.contains("192.0.2.7")).toBe(true);
  expect(set.contains("192.0.2.8")).toBe(false);
  expect(set.contains("10.200.3.4")).toBe(true);
  expect(set.contains("11.0.0.1")).toBe(false);
  expect(set.contains("fd00::1")).toBe(true);
  expect(set.contains("not an address")).toBe(false);
});

test("a broken entry matches nothing and never widens the set", () => {
  const set = compileAddressSet(["10.0.0.0/33", "300.1.1.1/8", "/0", "", "::/129", "1.2.3.4/", "*"]);
  expect(set.isEmpty).toBe(true);
  expect(set.contains("10.0.0.1")).toBe(false);
  expect(isAddressRange("10.0.0.0/33")).toBe(false);
  expect(isAddressRange("fe80::%eth0/10")).toBe(false);
  expect(isAddressRange("10.0.0.0/8")).toBe(true);
  expect(isAddressRange("::/0")).toBe(true);
});

test("the first address of all is one, and a mapped range of 96 bits is all of IPv4", () => {
  const set = compileAddressSet(["0.0.0.0"]);
  expect([set.contains("0.0.0.0"), set.contains("0.0.0.1"), isAddressRange("0.0.0.0")]).toEqual([true, false, true]);
  expect(compileAddressSet(["::ffff:0.0.0.0/96"]).contains("203.0.113.9")).toBe(true);
  expect(compileAddressSet(["192.0.2.7", "fd00::1"]).isEmpty).toBe(false);
  expect(compileAddressSet([]).isEmpty).toBe(true);
});

test("text with more than a prefix length, or that only looks like IPv6, is no address and no range", () => {
  for (const text of ["10.0.0.0/8/8", "10.0.0.0/8/", "1:2:::3", ":"]) {
    expect([text, isAddressRange(text)]).toEqual([text, false]);
    expect(compileAddressSet(["::/0", "0.0.0.0/0"]).contains(text)).toBe(false);
  }
});
