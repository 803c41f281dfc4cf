import { connect } from "node:net";
import { clientFrame } from "./client-frames.ts";
import type { SocketCase } from "./websocket-cases.ts";
import type { Answer, Expected } from "./websocket-model.ts";

/** A connection that has not ended as it should by then has failed. */
const patienceMs = 20_000;
const handshake =
  "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
const goodbye = clientFrame({ opcode: 8, payload: Uint8Array.of(0x03, 0xe8) });

/** The whole frames in what a server sent; null for what no server may send. */
function framesIn(bytes: Buffer): readonly Answer[] | null {
  const frames: Answer[] = [];
  let at = 0;
  while (bytes.length >= at + 2) {
    const [first = 0, second = 0] = bytes.subarray(at, at + 2);
    if (first < 0x80 || (first & 0x70) !== 0 || second >= 0x80) return null;
    const head = second < 126 ? 2 : second === 126 ? 4 : 10;
    if (bytes.length < at + head) break;
    const length =
      head === 2 ? second : head === 4 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
    if (bytes.length < at + head + length) break;
    frames.push({ opcode: first & 0x0f, payload: bytes.subarray(at + head, at + head + length) });
    at += head + length;
  }
  return frames;
}

/** What is wrong with all that a server sent on a connection that has ended; null when it is what is expected. */
function faultOf(bytes: Buffer, { answers, code }: Expected, isSilent: boolean): string | null {
  const frames = framesIn(bytes);
  if (frames === null) return "a frame that no server may send";
  const closing = code ?? (isSilent ? null : 1000);
  const told = frames.map(({ opcode, payload }) => `${opcode} ${payload.toString("hex")}`);
  const wanted = answers.map(({ opcode, payload }) => `${opcode} ${payload.toString("hex")}`);
  if (closing !== null) wanted.push(`8 ${closing.toString(16).padStart(4, "0")}`);
  const at = wanted.findIndex((line, index) => line !== told[index]);
  if (at < 0 && told.length === wanted.length) return null;
  const place = at < 0 ? wanted.length : at;
  return `frame ${place} is ${told[place]?.slice(0, 80) ?? "missing"}, not ${wanted[place]?.slice(0, 80) ?? "none"}`;
}

/**
 * Sends what a case says to a server that sends messages back, and reads until the server has ended: by itself where it
 * has a reason, else when it is told goodbye or its client sends no more. What is wrong, or null.
 */
export function exchange(port: number, played: SocketCase, expected: Expected): Promise<string | null> {
  const { pieces, isEarly } = played;
  // Within a frame no goodbye can be said.
  const isSilent = played.isSilent || expected.isCut;
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
  let received = Buffer.alloc(0);
  let upgraded: (() => void) | null = null;
  let isParted = false;
  /** Bytes of the answers, with the shortest heads. */
  const wantedBytes = expected.answers.reduce((sum, { payload: { length } }) => {
    return sum + length + (length < 126 ? 2 : length < 65_536 ? 4 : 10);
  }, 0);
  const finish = (fault: string | null): void => {
    clearTimeout(timer);
    socket.destroy();
    resolve(fault);
  };
  const timer = setTimeout(() => finish(`nothing ended it after ${received.length} bytes`), patienceMs);
  let isSent = false;
  /** A client whose case gives the server no reason to close leaves once it has been answered. */
  const part = (): void => {
    if (isParted || !isSent || upgraded !== null || expected.code !== null || received.length < wantedBytes) return;
    isParted = true;
    if (isSilent) socket.end();
    else socket.write(goodbye);
  };
  socket.on("data", (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    const head = upgraded === null ? -1 : received.indexOf("\r\n\r\n");
    if (head >= 0) {
      received = received.subarray(head + 4);
      upgraded?.();
      upgraded = null;
    }
    part();
  });
  socket.on("end", () =>
    finish(upgraded === null ? faultOf(received, expected, isSilent) : "no answer to the handshake"),
  );
  socket.on("error", (error) => finish(String(error)));
  const { promise: isUpgraded, resolve: wasUpgraded } = Promise.withResolvers<void>();
  upgraded = wasUpgraded;
  socket.on("connect", async () => {
    const [first = Buffer.alloc(0), ...others] = pieces;
    socket.write(isEarly ? Buffer.concat([Buffer.from(handshake), first]) : handshake);
    if (!isEarly) {
      await isUpgraded;
      socket.write(first);
    }
    for (const piece of others) {
      // Of its own segment; what the server takes of them at once is the network's to decide.
      await new Promise((next) => setImmediate(next));
      if (socket.destroyed) return;
      socket.write(piece);
    }
    isSent = true;
    part();
  });
  return promise;
}
