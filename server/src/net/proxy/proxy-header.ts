import { normaliseAddress } from "@sluice/lib";
import type { ProxyFault } from "../events.ts";

/**
 * The header of the PROXY protocol, versions 1 and 2, by which a proxy that forwards bytes says whose they are
 * (HAProxy, "The PROXY protocol", https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt).
 */

export type ProxyHeader =
  /** More bytes are needed. */
  | { readonly kind: "incomplete" }
  /** `address` is null where the proxy names none: LOCAL, UNKNOWN, Unix sockets and datagrams. */
  | { readonly kind: "complete"; readonly bytes: number; readonly address: string | null }
  | { readonly kind: "fault"; readonly fault: ProxyFault };

const signature = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");
const prefix = Buffer.from("PROXY ", "latin1");
/** The longest line of version 1 with its end (section 2.1). */
const lineBytesMax = 107;
const fixedBytes = 16;
/** What version 2 may carry after its fixed part: addresses, and extensions such as a client's certificate. */
const blockBytesMax = 16 * 1024;

const incomplete: ProxyHeader = { kind: "incomplete" };
const fault = (of: ProxyFault): ProxyHeader => ({ kind: "fault", fault: of });

/** Reads the header at the begin of what a proxy sent. Total: any bytes give an outcome. */
export function readProxyHeader(received: Buffer): ProxyHeader {
  if (startsAlike(received, signature)) return received.length < fixedBytes ? incomplete : readBinary(received);
  if (startsAlike(received, prefix)) return readLine(received);
  return fault("malformed");
}

/** Whether the bytes agree with an expected begin as far as both go. */
function startsAlike(received: Buffer, expected: Buffer): boolean {
  const length = Math.min(received.length, expected.length);
  return received.compare(expected, 0, length, 0, length) === 0;
}

function readLine(received: Buffer): ProxyHeader {
  const end = received.subarray(0, lineBytesMax).indexOf("\r\n", 0, "latin1");
  if (end < 0) return received.length >= lineBytesMax ? fault("too_long") : incomplete;
  const bytes = end + 2;
  const words = received.toString("latin1", 0, end).split(" ");
  // What follows UNKNOWN is ignored.
  if (words[1] === "UNKNOWN") return { kind: "complete", bytes, address: null };
  const [, family, source = "", destination = "", ...ports] = words;
  const isRead = family === "TCP4" ? isIpv4 : family === "TCP6" ? isIpv6 : null;
  const isWhole = ports.length === 2 && ports.every(isPort);
  if (isRead === null || !isRead(source) || !isRead(destination) || !isWhole) return fault("malformed");
  return { kind: "complete", bytes, address: normaliseAddress(source) };
}

const isIpv4 = (text: string): boolean => !text.includes(":") && normaliseAddress(text) !== null;
const isIpv6 = (text: string): boolean => text.includes(":") && !text.includes("%") && normaliseAddress(text) !== null;
const isPort = (text: string): boolean => /^(0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535;

/** Bytes of source and destination of each family that version 2 knows, by the upper half of its byte. */
const addressBytes = [0, 12, 36, 216] as const;
const protocolMax = 2;

function readBinary(received: Buffer): ProxyHeader {
  const [versionAndCommand, familyAndProtocol] = [received.readUInt8(12), received.readUInt8(13)];
  const block = received.readUInt16BE(14);
  const command = versionAndCommand & 15;
  if (versionAndCommand >> 4 !== 2 || command > 1) return fault("malformed");
  if (block > blockBytesMax) return fault("too_long");
  const [family, protocol] = [familyAndProtocol >> 4, familyAndProtocol & 15];
  // LOCAL is the proxy's own connection, such as a check of health: the block means nothing.
  const isLocal = command === 0;
  const needed = isLocal ? 0 : addressBytes[family];
  if (needed === undefined || (!isLocal && protocol > protocolMax) || block < needed) return fault("malformed");
  const bytes = fixedBytes + block;
  if (received.length < bytes) return incomplete;
  const isStream = !isLocal && protocol === 1;
  const address = isStream ? sourceOf(family, received.subarray(fixedBytes)) : null;
  return { kind: "complete", bytes, address };
}

function sourceOf(family: number, block: Buffer): string | null {
  if (family === 1) return [...block.subarray(0, 4)].join(".");
  if (family !== 2) return null;
  const groups = Array.from({ length: 8 }, (_each, index) => block.readUInt16BE(2 * index).toString(16));
  return normaliseAddress(groups.join(":"));
}
