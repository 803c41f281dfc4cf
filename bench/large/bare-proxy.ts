/**
 * The least that passes an answer on: the runtime's server around the runtime's fetch, which looks at nothing.
 * bare-proxy.ts <upstream port>; prints {"port"} and ends with its standard input.
 */
const upstream = `http://127.0.0.1:${process.argv[2] ?? "0"}/`;
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 60,
  async fetch(request) {
    const answer = await fetch(upstream, { method: "POST", body: await request.text() });
    return new Response(answer.body, { headers: { "content-type": "application/json" } });
  },
});
console.log(JSON.stringify({ port: server.port }));
for await (const _ of Bun.stdin.stream()) {
  // Nothing is ever said here; the stream ends when the parent does.
}
process.exit(0);
