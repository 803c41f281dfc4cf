import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { StubNode } from "../upstreams/testing/stub-node.ts";
import { testKey } from "./testing/booted-gateway.ts";

const mebibyte = 1024 * 1024;
const piece = new TextEncoder().encode(`,"${"q8Zx+0aB".repeat(16_384)}"`);

/** A list of at least so many bytes under the call's id, made as it is read. */
function listBody(id: string, bytes: number): ReadableStream<Uint8Array> {
  let left = Math.ceil(bytes / piece.length);
  let isBegun = false;
  return new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        if (!isBegun) controller.enqueue(new TextEncoder().encode('{"jsonrpc":"2.0","result":["first"'));
        else if (left > 0) controller.enqueue(piece.slice());
        else {
          controller.enqueue(new TextEncoder().encode(`],"id":${id}}`));
          controller.close();
        }
        if (isBegun) left -= 1;
        isBegun = true;
      },
    },
    { highWaterMark: 0 },
  );
}

const residentBytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) * 1024;

/** Reads an answer to its end; the largest memory of the process that was seen meanwhile. */
async function readLarge(
  port: number,
  pid: number,
  isSlow: boolean,
): Promise<{ bytes: number; end: string; peak: number }> {
  const body =
    '{"jsonrpc":"2.0","id":"mine","method":"getProgramAccounts","params":["TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"]}';
  const socket = connect(port, "127.0.0.1");
  socket.write(
    `POST /rpc HTTP/1.1\r\nHost: a\r\nX-API-Key: ${testKey}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  let bytes = 0;
  let end = "";
  let peak = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on("data", (read: Buffer) => {
    bytes += read.length;
    end = (end + read.subarray(-64).toString("latin1")).slice(-64);
    peak = Math.max(peak, residentBytes(pid));
    if (!isSlow) return;
    socket.pause();
    setImmediate(() => socket.resume());
  });
  socket.on("close", () => resolve());
  await promise;
  return { bytes, end, peak };
}

test("200 MB for a quick and for a slow client pass through a process that grows by a fraction of it", async () => {
  if (!existsSync("/proc/self/status")) {
    console.warn("NOT RUN: the memory of a process is read from /proc, which this system has not");
    return;
  }
  let size = 48 * mebibyte;
  using node = new StubNode((call) => new Response(listBody(call.id, size)));
  const command = [process.execPath, join(import.meta.dir, "testing", "gateway-process.ts"), node.url];
  const child = Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  try {
    const { value } = await child.stdout.getReader().read();
    const { port } = JSON.parse(new TextDecoder().decode(value)) as { port: number };
    // The first large answer of a process also pays for the code's own compiling.
    await readLarge(port, child.pid, false);
    const before = residentBytes(child.pid);
    size = 200 * mebibyte;
    for (const isSlow of [false, true]) {
      const { bytes, end, peak } = await readLarge(port, child.pid, isSlow);
      expect(bytes).toBeGreaterThan(size);
      expect(end).toContain('"id":"mine"}');
      // Commonly under 12 MiB (bench/large); twice the goal leaves room for when the collector happens to run.
      expect((peak - before) / mebibyte).toBeLessThan(32);
    }
  } finally {
    child.stdin.end();
    await child.exited;
  }
}, 60_000);
