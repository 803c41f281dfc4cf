import { expect, test } from "bun:test";
import { createAddressPolicy } from "./address-policy.ts";
import { checkTargetUrl } from "./target-url.ts";

const policy = createAddressPolicy([]);
const strict = { allowHttp: true, allowedPrivateRanges: [] };

test("public unicast addresses of both families are allowed", () => {
  for (const address of ["1.1.1.1", "8.8.8.8", "223.255.255.1", "2606:4700::1111", "2a00:1450:4001::1"]) {
    expect([address, policy.allows(address)]).toEqual([address, true]);
  }
});

test("loopback, private, link-local, reserved, translated and unspecified addresses are refused", () => {
  const refused = [
    ..."0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1 172.31.255.255".split(
      " ",
    ),
    ..."192.0.0.8 192.0.2.1 192.168.0.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255".split(
      " ",
    ),
    ...":: ::1 ::127.0.0.1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:0:127.0.0.1 64:ff9b::7f00:1".split(" "),
    ..."64:ff9b:1::7f00:1 100::1 2001::1 2001:db8::1 2002:7f00:1:: 3fff::1 5f00::1 fc00::1 fd00:ec2::254".split(" "),
    ..."fe80::1 fe80::1%eth0 fec0::1 ff02::1 168.63.129.16 100.100.100.200".split(" "),
  ];
  for (const address of refused) expect([address, policy.allows(address)]).toEqual([address, false]);
});

test("text that is no address is refused", () => {
  for (const text of ["", "localhost", "1.2.3.4.5", "0x7f.1%x", "1.1.1.1/8"]) expect(policy.allows(text)).toBe(false);
});

test("an operator's ranges open what they name and never link-local or metadata addresses", () => {
  const relaxed = createAddressPolicy(["127.0.0.0/8", "10.0.0.0/8", "0.0.0.0/0", "::/0", "fd00::/8"]);
  for (const address of ["127.0.0.1", "10.9.8.7", "::ffff:10.0.0.1", "::1", "fd12::1"]) {
    expect([address, relaxed.allows(address)]).toEqual([address, true]);
  }
  for (const address of [
    "169.254.169.254",
    "::ffff:169.254.169.254",
    "fe80::1",
    "fd00:ec2::254",
    "168.63.129.16",
    "0.0.0.0",
  ]) {
    expect([address, relaxed.allows(address)]).toEqual([address, false]);
  }
});

test("every spelling of a refused address in a URL is refused before any look-up", () => {
  const hosts = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "017700000001",
    "0x7f000001",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "127.0.0.1.",
    "%31%32%37.0.0.1",
    "①②⑦.0.0.1",
    "0",
    "0.0.0.0",
    "169.254.169.254",
    "0xA9FEA9FE",
    "[::]",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:169.254.169.254]",
    "[64:ff9b::7f00:1]",
    "[fe80::1]",
  ];
  for (const host of hosts) {
    expect([host, checkTargetUrl(`http://${host}/`, strict)]).toEqual([
      host,
      { ok: false, failure: "address_not_allowed", detail: expect.any(String) },
    ]);
  }
});

test("a zone, another scheme, user info and what is no URL are refused by name", () => {
  const failureOf = (url: string, allowHttp = false): string => {
    const outcome = checkTargetUrl(url, { allowHttp, allowedPrivateRanges: [] });
    return outcome.ok ? "ok" : outcome.failure;
  };
  expect(failureOf("https://[fe80::1%25eth0]/")).toBe("invalid_url");
  expect(failureOf("http://example.com/")).toBe("scheme_not_allowed");
  expect(failureOf("http://example.com/", true)).toBe("ok");
  expect(failureOf("file:///etc/passwd", true)).toBe("scheme_not_allowed");
  expect(failureOf("https://user@example.com/")).toBe("credentials_in_url");
  expect(failureOf(`https://example.com/${"a".repeat(3_000)}`)).toBe("invalid_url");
  expect(failureOf("example.com")).toBe("invalid_url");
  expect(failureOf("https://example.com/hook?x=1")).toBe("ok");
});
