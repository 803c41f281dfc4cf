import { createHash } from "node:crypto";
import type { RequestHead } from "../http1/server/request-head.ts";

/** What the key of a handshake is hashed with (RFC 6455, section 1.3). */
const acceptSuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/** 16 bytes in base64. */
const keyPattern = /^[+/0-9A-Za-z]{22}==$/;

/** The answer to a valid WebSocket handshake, with `fields` (header lines, each with its end) in it; else null. */
export function handshakeAnswer(headers: Pick<RequestHead, "get" | "minor">, fields: string): string | null {
  const key = headers.get("sec-websocket-key");
  if (headers.minor === 0 || key === null || !keyPattern.test(key)) return null;
  const accept = createHash("sha1").update(key).update(acceptSuffix).digest("base64");
  // A client that offers subprotocols expects one of them; none of ours differs by it.
  const protocol = headers.get("sec-websocket-protocol")?.split(",")[0]?.trim() ?? "";
  const chosen = protocol === "" ? "" : `Sec-WebSocket-Protocol: ${protocol}\r\n`;
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n${chosen}${fields}\r\n`;
}
