import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { alice, World } from "./testing/world.ts";

/** Bytes as they come over a socket, past Bun's own server: what a URL parser makes of them before a name is read. */
let world: World;
let server: Bun.Server<undefined>;

beforeAll(() => {
  world = new World();
  world.domain(["alice"], "x1", alice);
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    development: false,
    fetch: (request) => world.names.fetch(request),
  });
});

afterAll(async () => {
  await server.stop(true);
  await world[Symbol.asyncDispose]();
});

async function ask(requestLine: string): Promise<{ status: number; body: string; head: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(server.port ?? 0, "127.0.0.1", () => {
    socket.write(Buffer.from(`${requestLine} HTTP/1.1\r\nHost: r\r\nConnection: close\r\n\r\n`, "latin1"));
  });
  let text = "";
  socket.on("data", (bytes) => {
    text += bytes.toString("utf8");
  });
  socket.on("close", () => resolve(text));
  socket.on("error", reject);
  const [head = "", body = ""] = (await promise).split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), body, head };
}

test.each([
  ["GET /resolve/alice.x1", 200, "alice.x1"],
  ["GET /resolve/%61lice.x1?x=1", 200, "alice.x1"],
  ["GET /resolve/a/../alice.x1", 200, "alice.x1"],
  ["GET http://elsewhere/resolve/alice.x1", 200, "alice.x1"],
  ["GET /resolve/..%2falice.x1", 400, "../alice.x1"],
  ["GET /resolve/al\xe9.x1", 400, "al\ufffd.x1"],
  ["GET /resolve/a%00.x1", 400, "a\0.x1"],
  ["GET /resolve/%ff.x1", 400, "%ff.x1"],
  [`GET /resolve/${"%61".repeat(4_000)}.x1`, 400, `${"a".repeat(4_000)}.x1`],
] as const)("%s", async (line, status, input) => {
  const answer = await ask(line);
  expect([answer.status, JSON.parse(answer.body).input]).toEqual([status, input]);
});

test.each([
  "GET /resolve/a\\b",
  "GET //resolve/alice.x1",
  "GET /resolve/.",
  "GET /resolve/%2e%2e",
  "GET /resolve/alice.x1/",
])("%s is another route", async (line) =>
  expect(await ask(line)).toMatchObject({ status: 404, body: '{"error":"not found"}' }),
);

test("HEAD and a preflight are 405 with open CORS headers, HEAD without a body", async () => {
  for (const method of ["HEAD", "OPTIONS", "TRACE", "QUERY"]) {
    const answer = await ask(`${method} /resolve/alice.x1`);
    expect(answer.status).toBe(405);
    expect(answer.head.toLowerCase()).toContain("access-control-allow-origin: *");
    if (method === "HEAD") expect(answer.body).toBe("");
  }
});
