/**
 * A node in a process of its own that may be killed: answers every call with its port, and says that it is at slot 100.
 */
const port = Number(Bun.argv[2]);

const server = Bun.serve({
  port,
  hostname: "127.0.0.1",
  async fetch(request) {
    const { id, method } = (await request.json()) as { id: unknown; method: string };
    const result = method === "getSlot" ? 100 : port;
    return new Response(`{"jsonrpc":"2.0","result":${result},"id":${JSON.stringify(id)}}`);
  },
});
process.stdout.write(`${server.port}\n`);
process.stdin.on("end", () => process.exit(0));
process.stdin.resume();
