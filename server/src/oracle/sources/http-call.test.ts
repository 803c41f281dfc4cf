import { expect, test } from "bun:test";
import { callExchange } from "./http-call.ts";

/** A server that answers every connection with these bytes and closes it. */
function answering(bytes: string) {
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket) {
        socket.write(bytes);
        socket.end();
      },
    },
  });
  return { url: `http://127.0.0.1:${server.port}/`, [Symbol.dispose]: () => server.stop(true) };
}

const call = (url: string) => callExchange({ method: "GET", url, signal: new AbortController().signal }, () => 7);

test("an answer is its status, its headers and its text, stamped when it was whole", async () => {
  using server = answering("HTTP/1.1 429 Too Many\r\nRetry-After: 9\r\ncontent-length: 4\r\n\r\nž !");
  const outcome = await call(server.url);
  if (outcome.kind !== "answer") throw new Error(outcome.kind);
  expect(outcome.answer).toMatchObject({ status: 429, text: "ž !", receivedAtMs: 7 });
  expect(outcome.answer.header("retry-after")).toBe("9");
  expect(outcome.answer.header("x-other")).toBeNull();
});

test("a body that ends before its length, a redirect and a server that is not there are no answer", async () => {
  using cut = answering('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"last":"1"}');
  expect((await call(cut.url)).kind).toBe("unreachable");
  using moved = answering("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n");
  expect((await call(moved.url)).kind).toBe("unreachable");
  using garbage = answering("no protocol of ours\r\n\r\n");
  expect((await call(garbage.url)).kind).toBe("unreachable");
  expect((await call("http://127.0.0.1:1/")).kind).toBe("unreachable");
  expect((await call("no address")).kind).toBe("unreachable");
});

test("a body beyond the bound is not read to its end", async () => {
  const chunk = new Uint8Array(64 * 1024);
  let sent = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            sent += chunk.length;
            // It would end some time, so that a reader without a bound fails the test rather than hang it.
            if (sent > 256 * 1024 * 1024) controller.close();
            else controller.enqueue(chunk);
          },
        }),
      ),
  });
  try {
    expect((await call(`http://127.0.0.1:${server.port}/`)).kind).toBe("oversized");
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  } finally {
    await server.stop(true);
  }
});
