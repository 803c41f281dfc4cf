import { expect, test } from "bun:test";
import { compileAddressSet } from "@sluice/lib";
import { clientAddress } from "./client-address.ts";

const proxies = compileAddressSet(["10.0.0.0/8", "fd00::/8"]);
const stranger = compileAddressSet([]);

test("X-Forwarded-For of an untrusted peer is not believed", () => {
  expect(clientAddress("203.0.113.9", "1.1.1.1", proxies)).toBe("203.0.113.9");
  expect(clientAddress("10.0.0.1", "1.1.1.1", stranger)).toBe("10.0.0.1");
});

test("behind trusted proxies the right-most untrusted entry counts, whatever a client put before it", () => {
  expect(clientAddress("10.0.0.1", "6.6.6.6, 8.8.8.8, 10.0.0.2", proxies)).toBe("8.8.8.8");
  expect(clientAddress("::ffff:10.0.0.1", "8.8.8.8", proxies)).toBe("8.8.8.8");
  expect(clientAddress("fd00::1", "2001:DB8::0001", proxies)).toBe("2001:db8::1");
});

test("IPv4-mapped addresses, ports and brackets are spelled once", () => {
  expect(clientAddress("::ffff:192.0.2.1", null, stranger)).toBe("192.0.2.1");
  expect(clientAddress("10.0.0.1", "8.8.8.8:4711", proxies)).toBe("8.8.8.8");
  expect(clientAddress("10.0.0.1", "[2001:db8::1]:443", proxies)).toBe("2001:db8::1");
  expect(clientAddress("10.0.0.1", "::ffff:8.8.8.8", proxies)).toBe("8.8.8.8");
});

test("an entry that is no address ends the walk at the proxy that handed it on", () => {
  expect(clientAddress("10.0.0.1", "8.8.8.8, unknown, 10.0.0.2", proxies)).toBe("10.0.0.2");
  expect(clientAddress("10.0.0.1", "", proxies)).toBe("10.0.0.1");
  expect(clientAddress("10.0.0.1", "8.8.8.8,", proxies)).toBe("10.0.0.1");
  expect(clientAddress("10.0.0.1", ",", proxies)).toBe("10.0.0.1");
});

test("when every entry is a trusted proxy the farthest one is the client", () => {
  expect(clientAddress("10.0.0.1", "10.0.0.3, 10.0.0.2", proxies)).toBe("10.0.0.3");
});

test("of a header of any length the last 32 entries are read", () => {
  const behind = (trusted: number): string =>
    [
      "8.8.8.8",
      ...Array.from({ length: trusted }, (_, index) => `10.1.${Math.trunc(index / 250)}.${index % 250}`),
    ].join(",");
  expect(clientAddress("10.0.0.1", behind(31), proxies)).toBe("8.8.8.8");
  expect(clientAddress("10.0.0.1", behind(32), proxies)).toBe("10.1.0.0");
  expect(clientAddress("10.0.0.1", `8.8.8.8,${behind(1_000)}`, proxies)).toBe("10.1.3.218");
  expect(clientAddress("10.0.0.1", ",10.0.0.2", proxies)).toBe("10.0.0.2");
});
