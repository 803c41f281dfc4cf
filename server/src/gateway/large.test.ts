import { expect, test } from "bun:test";
import { connect } from "node:net";
import {
  brotliCompressSync,
  brotliDecompressSync,
  gunzipSync,
  gzipSync,
  zstdCompressSync,
  zstdDecompressSync,
} from "node:zlib";
import { until } from "@sluice/lib/testing";
import { StubNode } from "../upstreams/testing/stub-node.ts";
import { type BootedGateway, bootGateway, testKey } from "./testing/booted-gateway.ts";

const mebibyte = 1024 * 1024;
const program = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";

/** A list of about so many bytes, with wide characters and quotes at every place of a piece's edge. */
function listOf(bytes: number): string {
  const item = `"${"a".repeat(61)}é😀\\"\\\\]}",18446744073709551615`;
  const items = Math.max(1, Math.floor(bytes / (Buffer.byteLength(item) + 1)));
  const list = `[${Array.from({ length: items }, () => item).join(",")}`;
  return `${list},"${"z".repeat(Math.max(0, bytes - Buffer.byteLength(list) - 4))}"]`;
}

interface StreamedNode {
  readonly stream: ReadableStream<Uint8Array>;
  readonly isLeft: () => boolean;
}

/** A node's body in pieces of such a size; it waits for its reader. After `cutAt` bytes it breaks off. */
function streamed(text: string, pieceBytes: number, cutAt = Number.POSITIVE_INFINITY): StreamedNode {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  let isLeft = false;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        if (at >= cutAt) {
          controller.error(new Error("broken"));
          return;
        }
        if (at >= bytes.length) {
          controller.close();
          return;
        }
        controller.enqueue(bytes.slice(at, at + pieceBytes));
        at += pieceBytes;
      },
      cancel: () => {
        isLeft = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, isLeft: () => isLeft };
}

const bodyOf = (id: string, method = "getProgramAccounts", params = `["${program}"]`): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;

const head = `POST /rpc HTTP/1.1\r\nHost: a\r\nX-API-Key: ${testKey}\r\nContent-Type: application/json\r\n`;

/** The body of an answer as it lay on the wire, in chunks. */
function undoneChunks(answer: Buffer): Buffer {
  const parts: Buffer[] = [];
  let at = answer.indexOf("\r\n\r\n") + 4;
  for (;;) {
    const lineEnd = answer.indexOf("\r\n", at);
    const size = Number.parseInt(answer.toString("latin1", at, lineEnd), 16);
    if (!(size > 0)) return Buffer.concat(parts);
    parts.push(answer.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}

async function withGateway(use: (booted: BootedGateway, node: StubNode) => Promise<void>): Promise<void> {
  using node = new StubNode(() => "unexpected");
  await using booted = await bootGateway({ upstreams: { devnet: node } });
  await use(booted, node);
  expect(booted.faults).toEqual([]);
}

const sizes = [1, 1.9, 2, 2.1, 3.3, 9].map((size) => Math.round(size * mebibyte));

test.each(sizes.flatMap((size) => (["first", "last"] as const).map((place) => [size, place] as const)))(
  "an answer of %d bytes with the id %s comes byte for byte under ids of any form",
  (size, place) =>
    withGateway(async (booted, node) => {
      const list = listOf(size);
      const text = (id: string): string =>
        place === "first"
          ? `{"id":${id},"result":${list},"jsonrpc":"2.0"}`
          : `{"jsonrpc":"2.0","result":${list},"id":${id}}\n`;
      for (const [index, id] of ["7", '"é😀"', "123456789012345678901234567890"].entries()) {
        const pieceBytes = [1 + index * 100_003, 65_537, 700_001][index] ?? 1_000;
        node.answer = (call) => new Response(streamed(text(call.id), Math.max(pieceBytes, 4_099)).stream);
        const response = await booted.post(
          bodyOf(id, "getProgramAccounts", `["${program}",{"minContextSlot":${index}}]`),
          { headers: { "accept-encoding": "identity" } },
        );
        const answer = Buffer.from(await response.arrayBuffer());
        expect(answer.equals(Buffer.from(text(id)))).toBe(true);
      }
      await until(() => booted.facts.length === 3);
      expect(booted.facts.map(({ rpcCode, credits }) => [rpcCode, credits])).toEqual([
        [null, 5],
        [null, 5],
        [null, 5],
      ]);
      for (const fact of booted.facts) expect(fact.bytesOut).toBeGreaterThan(Math.min(size, mebibyte) - 100);
    }),
);

test.each([
  ["zstd", zstdDecompressSync, zstdCompressSync],
  ["br", brotliDecompressSync, brotliCompressSync],
  ["gzip", gunzipSync, gzipSync],
] as const)("a large answer goes out in %s, and one that came so is undone on the way", (coding, undo, pack) =>
  withGateway(async (booted, node) => {
    const list = listOf(12 * mebibyte);
    const text = (id: string): string => `{"jsonrpc":"2.0","result":${list},"id":${id}}`;
    // Random bytes keep the packed form large enough to be taken for a large answer.
    const noise = Buffer.from(
      Array.from({ length: 900_000 }, (_, index) => (index * 7919 + ((index * index) >> 3)) & 0xff),
    ).toString("base64");
    const noisy = (id: string): string => `{"jsonrpc":"2.0","result":["${noise}",${list}],"id":${id}}`;
    const ask = async (accept: string): Promise<{ encoding: string | null; whole: Buffer; bytes: number }> => {
      const response = await fetch(`${booted.url}/rpc`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": testKey, "accept-encoding": accept },
        body: bodyOf('"x"'),
        decompress: false,
      });
      const encoding = response.headers.get("content-encoding");
      expect(response.headers.get("vary")).toContain("accept-encoding");
      const bytes = Buffer.from(await response.arrayBuffer());
      return { encoding, whole: encoding === null ? bytes : undo(bytes), bytes: bytes.length };
    };
    node.answer = (call) => new Response(streamed(text(call.id), 300_000).stream);
    const packed = await ask(coding);
    expect([packed.encoding, packed.whole.equals(Buffer.from(text('"x"')))]).toEqual([coding, true]);
    expect(packed.bytes).toBeLessThan(mebibyte);
    await until(() => booted.facts.length === 1);
    expect(booted.facts[0]?.bytesOut).toBe(packed.bytes);
    node.answer = (call) =>
      new Response(new Uint8Array(pack(noisy(call.id))), { headers: { "content-encoding": coding } });
    for (const accept of ["identity", coding]) {
      const answer = await ask(accept);
      expect([answer.encoding, answer.whole.equals(Buffer.from(noisy('"x"')))]).toEqual([
        accept === coding ? coding : null,
        true,
      ]);
    }
  }),
);

test("an answer that its node breaks off is a broken answer to the client, in every coding, and costs nothing", () =>
  withGateway(async (booted, node) => {
    const text = (id: string): string => `{"jsonrpc":"2.0","result":${listOf(6 * mebibyte)},"id":${id}}`;
    for (const coding of ["identity", "zstd", "gzip"]) {
      node.answer = (call) => new Response(streamed(text(call.id), 100_000, 4 * mebibyte).stream);
      const answer = booted.post(bodyOf("1"), { headers: { "accept-encoding": coding } });
      await expect(answer.then((response) => response.arrayBuffer())).rejects.toThrow();
      await until(() => booted.facts.length === 1);
      expect(booted.facts.splice(0)).toMatchObject([
        { rpcCode: -33502, code: "UPSTREAM_INVALID", credits: 0, status: 200 },
      ]);
    }
    expect(booted.fakes.creditsLeft).toBe(1_000_000);
  }));

test("a forged end is not passed on as the end of an answer", () =>
  withGateway(async (booted, node) => {
    node.answer = () =>
      new Response(streamed(`{"jsonrpc":"2.0","result":${listOf(4 * mebibyte)},"id":999999}`, 100_000).stream);
    await expect((await booted.post(bodyOf("1"))).text()).rejects.toThrow();
    await until(() => booted.facts.length === 1);
    expect(booted.facts[0]).toMatchObject({ rpcCode: -33502, credits: 0 });
  }));

test("a client that leaves in the middle ends the node's call, and has paid", () =>
  withGateway(async (booted, node) => {
    const source = streamed(`{"jsonrpc":"2.0","result":${listOf(40 * mebibyte)},"id":1}`, 100_000);
    node.answer = () => new Response(source.stream);
    const body = bodyOf("1");
    const socket = connect(booted.port, "127.0.0.1");
    socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
    await new Promise((resolve) => socket.once("data", resolve));
    socket.destroy();
    await until(source.isLeft);
    await until(() => booted.facts.length === 1);
    expect(booted.facts[0]).toMatchObject({ rpcCode: null, code: "", credits: 5 });
  }));

test("a client that leaves before the answer began ends the node's call too", () =>
  withGateway(async (booted, node) => {
    const source = streamed(`{"jsonrpc":"2.0","result":${listOf(20 * mebibyte)},"id":1}`, 100_000);
    const release = Promise.withResolvers<void>();
    node.answer = async () => {
      await release.promise;
      return new Response(source.stream);
    };
    const leaving = new AbortController();
    const headers = { "content-type": "application/json", "x-api-key": testKey };
    const asked = fetch(`${booted.url}/rpc`, { method: "POST", headers, body: bodyOf("1"), signal: leaving.signal });
    await until(() => node.calls.length === 1);
    leaving.abort();
    await expect(asked).rejects.toThrow();
    release.resolve();
    await until(source.isLeft);
    await until(() => booted.facts.length === 1);
  }));

test("a client that reads slowly gets every byte, and holds its node back meanwhile", () =>
  withGateway(async (booted, node) => {
    const text = `{"jsonrpc":"2.0","result":${listOf(96 * mebibyte)},"id":`;
    let reported = 0;
    node.answer = (call) => {
      const { stream } = streamed(`${text}${call.id}}`, 100_000);
      const counting = new TransformStream<Uint8Array, Uint8Array>({
        transform: (piece, controller) => {
          reported += piece.length;
          controller.enqueue(piece);
        },
      });
      return new Response(stream.pipeThrough(counting));
    };
    const body = bodyOf('"slow"');
    const socket = connect(booted.port, "127.0.0.1");
    socket.write(`${head}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    const pieces: Buffer[] = [];
    let received = 0;
    let leadMax = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    socket.on("data", (piece: Buffer) => {
      pieces.push(piece);
      received += piece.length;
      leadMax = Math.max(leadMax, reported - received);
      socket.pause();
      setTimeout(() => socket.resume(), 1);
    });
    socket.on("close", () => resolve());
    await promise;
    const sent = undoneChunks(Buffer.concat(pieces));
    expect(sent.equals(Buffer.from(`${text}"slow"}`))).toBe(true);
    // Two pairs of the system's buffers lie between node and client, and what we hold ourselves.
    expect(leadMax).toBeLessThan(32 * mebibyte);
  }));

test("who joined a call whose answer is still coming asks for himself, and nothing of it is kept", () =>
  withGateway(async (booted, node) => {
    const text = (id: string): string => `{"jsonrpc":"2.0","result":${listOf(3 * mebibyte)},"id":${id}}`;
    const release = Promise.withResolvers<void>();
    node.answer = async (call) => {
      await release.promise;
      return new Response(streamed(text(call.id), 100_000).stream);
    };
    const answers = ["1", "2", "3"].map((id) => booted.post(bodyOf(id)));
    await until(() => booted.fakes.creditsLeft === 1_000_000 - 15);
    await until(() => node.calls.length === 1);
    release.resolve();
    for (const [index, answer] of answers.entries()) expect(await (await answer).text()).toBe(text(String(index + 1)));
    expect(await (await booted.post(bodyOf("4"))).text()).toBe(text("4"));
    expect(node.calls.length).toBe(4);
  }));

test("large answers stand whole in a batch; one that is cut is an error in its place", () =>
  withGateway(async (booted, node) => {
    const text = (id: string): string => `{"jsonrpc":"2.0","result":${listOf(3 * mebibyte)},"id":${id}}`;
    node.answer = (call) => {
      if (call.method === "getSlot") return `{"jsonrpc":"2.0","result":5,"id":${call.id}}`;
      const cutAt = call.params.length === 1 ? Number.POSITIVE_INFINITY : 2.5 * mebibyte;
      return new Response(streamed(text(call.id), 100_000, cutAt).stream);
    };
    const cut = bodyOf("3", "getProgramAccounts", `["${program}",{"encoding":"base64"}]`);
    const response = await booted.post(`[${bodyOf('"a"')},${bodyOf("2", "getSlot", "[]")},${cut}]`);
    const whole = await response.text();
    expect(whole.startsWith(`[${text('"a"')},{"jsonrpc":"2.0","result":5,"id":2},`)).toBe(true);
    expect((JSON.parse(whole) as { error?: { code: number } }[])[2]?.error?.code).toBe(-33502);
    expect(booted.fakes.creditsLeft).toBe(1_000_000 - 6);
  }));
