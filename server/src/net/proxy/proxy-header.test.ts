import { describe, expect, test } from "bun:test";
import { normaliseAddress } from "@sluice/lib";
import fc from "fast-check";
import { readProxyHeader } from "./proxy-header.ts";

const signature = "0d0a0d0a000d0a515549540a";
const binary = (hex: string): Buffer => Buffer.from(`${signature}${hex.replaceAll(" ", "")}`, "hex");
const line = (text: string): Buffer => Buffer.from(text, "latin1");
const complete = (bytes: number, address: string | null) => ({ kind: "complete", bytes, address });
const refused = (fault: string) => ({ kind: "fault", fault });

const widest = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff";

describe("version 1", () => {
  test("the lines of the specification are read, with what follows left alone", () => {
    const ipv4 = "PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n";
    expect(readProxyHeader(line(`${ipv4}GET / HTTP/1.1\r\n`))).toEqual(complete(56, "255.255.255.255") as never);
    const ipv6 = `PROXY TCP6 ${widest} ${widest} 65535 65535\r\n`;
    expect(readProxyHeader(line(ipv6))).toEqual(complete(104, widest) as never);
    expect(readProxyHeader(line("PROXY UNKNOWN\r\n"))).toEqual(complete(15, null) as never);
    const longest = `PROXY UNKNOWN ${widest} ${widest} 65535 65535\r\n`;
    expect(longest.length).toBe(107);
    expect(readProxyHeader(line(longest))).toEqual(complete(107, null) as never);
    expect(readProxyHeader(line("PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n"))).toMatchObject({
      address: "192.168.0.1",
    });
    expect(readProxyHeader(line("PROXY TCP6 ::ffff:192.0.2.1 2001:DB8::1 0 1\r\n"))).toMatchObject({
      address: "192.0.2.1",
    });
  });

  test("a line that says anything else is refused", () => {
    for (const text of [
      "PROXY  TCP4 1.2.3.4 1.2.3.4 1 2\r\n",
      "PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n",
      "PROXY TCP4 1.2.3.4 1.2.3.4 1 2 3\r\n",
      "PROXY TCP4 1.2.3.4 1.2.3.4 1 2 \r\n",
      "PROXY TCP4 1.2.3.04 1.2.3.4 1 2\r\n",
      "PROXY TCP4 1.2.3.4 1.2.3.256 1 2\r\n",
      "PROXY TCP4 ::1 ::1 1 2\r\n",
      "PROXY TCP6 1.2.3.4 1.2.3.4 1 2\r\n",
      "PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n",
      "PROXY TCP4 1.2.3.4 1.2.3.4 01 2\r\n",
      "PROXY TCP4 1.2.3.4 1.2.3.4 1 65536\r\n",
      "PROXY UDP4 1.2.3.4 1.2.3.4 1 2\r\n",
      "PROXY TCP4 1.2.3.4 1.2.3.4 1 2\n\r\n",
      "PROXY \r\n",
      "proxy TCP4 1.2.3.4 1.2.3.4 1 2\r\n",
      "GET / HTTP/1.1\r\n",
    ]) {
      expect([text, readProxyHeader(line(text))]).toEqual([text, refused("malformed") as never]);
    }
    expect(readProxyHeader(line(`PROXY UNKNOWN ${"a".repeat(91)}\r`))).toEqual({ kind: "incomplete" });
    expect(readProxyHeader(line(`PROXY UNKNOWN ${"a".repeat(93)}`))).toEqual(refused("too_long") as never);
    expect(readProxyHeader(line(`PROXY UNKNOWN ${"a".repeat(92)}\r\n`))).toEqual(refused("too_long") as never);
  });
});

describe("version 2", () => {
  test("addresses of streams are read, and extensions behind them skipped", () => {
    expect(readProxyHeader(binary("21 11 000c c0000201 0a000001 dd40 01bb"))).toEqual(
      complete(28, "192.0.2.1") as never,
    );
    expect(readProxyHeader(binary("21 11 0013 c0000201 0a000001 dd40 01bb 040004 00000000 ffff"))).toEqual(
      complete(35, "192.0.2.1") as never,
    );
    const source = "20010db8000000000000000000000005";
    expect(readProxyHeader(binary(`21 21 0024 ${source} ${source} dd40 01bb 1603`))).toEqual(
      complete(52, "2001:db8::5") as never,
    );
    const mapped = "00000000000000000000ffffc0000201";
    expect(readProxyHeader(binary(`21 21 0024 ${mapped} ${mapped} dd40 01bb`))).toMatchObject({ address: "192.0.2.1" });
  });

  test("LOCAL, no family, Unix sockets and datagrams leave the address of the socket", () => {
    expect(readProxyHeader(binary("20 00 0000"))).toEqual(complete(16, null) as never);
    expect(readProxyHeader(binary("20 ff 0003 aabbcc"))).toEqual(complete(19, null) as never);
    expect(readProxyHeader(binary("21 00 0000"))).toEqual(complete(16, null) as never);
    expect(readProxyHeader(binary(`21 31 00d8 ${"2f".repeat(216)}`))).toEqual(complete(232, null) as never);
    expect(readProxyHeader(binary("21 12 000c c0000201 0a000001 dd40 01bb"))).toEqual(complete(28, null) as never);
  });

  test("what no version assigns, what is too short for its family and what is too long is refused", () => {
    for (const hex of [
      "11 11 000c",
      "22 11 000c",
      "21 41 000c",
      "21 13 000c",
      "21 11 000b",
      "21 21 0023",
      "21 31 00d7",
    ]) {
      expect([hex, readProxyHeader(binary(hex))]).toEqual([hex, refused("malformed") as never]);
    }
    expect(readProxyHeader(binary("21 11 4000"))).toEqual({ kind: "incomplete" });
    expect(readProxyHeader(binary("21 11 4001"))).toEqual(refused("too_long") as never);
    expect(readProxyHeader(binary("20 00 ffff"))).toEqual(refused("too_long") as never);
    expect(readProxyHeader(Buffer.from(`${signature.slice(0, 22)}ff`, "hex"))).toEqual(refused("malformed") as never);
  });
});

const ipv4 = fc.ipV4();
const port = fc.nat({ max: 65_535 });
/** A header with what is read of it. */
const headers = fc.oneof(
  fc.tuple(ipv4, ipv4, port, port).map(([source, other, from, to]) => ({
    bytes: line(`PROXY TCP4 ${source} ${other} ${from} ${to}\r\n`),
    address: source,
  })),
  fc.tuple(fc.ipV6(), port).map(([source, from]) => ({
    bytes: line(`PROXY TCP6 ${source} ::1 ${from} 1\r\n`),
    address: normaliseAddress(source),
  })),
  fc.tuple(ipv4, fc.uint8Array({ maxLength: 300 })).map(([source, extensions]) => {
    const head = Buffer.from([0x21, 0x11, 0, 0, ...source.split(".").map(Number), 10, 0, 0, 1, 0, 1, 0, 2]);
    head.writeUInt16BE(12 + extensions.length, 2);
    return { bytes: Buffer.concat([Buffer.from(signature, "hex"), head, extensions]), address: source };
  }),
);

test("a header is read whole, at its last byte and no sooner, whatever follows", () => {
  fc.assert(
    fc.property(headers, fc.uint8Array({ maxLength: 40 }), ({ bytes, address }, rest) => {
      for (let length = 0; length < bytes.length; length += 1) {
        expect(readProxyHeader(bytes.subarray(0, length))).toEqual({ kind: "incomplete" });
      }
      const read = readProxyHeader(Buffer.concat([bytes, rest]));
      expect(read).toEqual({ kind: "complete", bytes: bytes.length, address });
    }),
  );
});

test("any bytes give an outcome, and no address that is none", () => {
  const begun = fc
    .tuple(fc.constantFrom("", "PROXY ", "PROXY TCP4 ", "PROXY TCP6 "), fc.string())
    .map(([a, b]) => line(a + b));
  const extended = fc
    .uint8Array({ maxLength: 300 })
    .map((bytes) => Buffer.concat([Buffer.from(signature, "hex"), bytes]));
  fc.assert(
    fc.property(fc.oneof(begun, extended), (bytes) => {
      const read = readProxyHeader(bytes);
      if (read.kind !== "complete") return;
      expect(read.bytes).toBeLessThanOrEqual(bytes.length);
      if (read.address !== null) expect(normaliseAddress(read.address)).toBe(read.address);
    }),
    { numRuns: 2_000 },
  );
});
