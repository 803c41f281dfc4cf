/**
 * The node behind every subject, a separate process: answers each JSON-RPC call with a list of accounts of
 * `--megabytes` under the call's id, getSlot with a slot. It waits for its reader and repeats one piece, so that what
 * it holds is small. Prints {"port"} when it listens and ends with its standard input.
 */
const megabytes = Number(process.argv[2] ?? "200");
const account = (lamports: number): string =>
  `{"pubkey":"9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g","account":{"lamports":${lamports},"data":["${"q8Zx+0aB".repeat(28)}","base64"],"owner":"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA","executable":false,"rentEpoch":18446744073709551615,"space":165}}`;
const accounts = Array.from({ length: 600 }, (_, index) => account(2_039_280 + index)).join(",");
const piece = new TextEncoder().encode(`,${accounts}`);
const pieces = Math.ceil((megabytes * 1024 * 1024) / piece.length);

function answer(id: string): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        if (sent === 0) controller.enqueue(new TextEncoder().encode(`{"jsonrpc":"2.0","result":[${account(1)}`));
        if (sent < pieces) controller.enqueue(piece);
        else {
          controller.enqueue(new TextEncoder().encode(`],"id":${id}}`));
          controller.close();
        }
        sent += 1;
      },
    },
    { highWaterMark: 0 },
  );
}

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 60,
  async fetch(request) {
    if (request.method !== "POST") return new Response(null, { status: 404 });
    const text = await request.text();
    const id = /"id":\s*("[^"]*"|[0-9]+|null)/.exec(text)?.[1] ?? "null";
    const headers = { "content-type": "application/json" };
    if (!text.includes('"getProgramAccounts"')) {
      return new Response(`{"jsonrpc":"2.0","result":1000000,"id":${id}}`, { headers });
    }
    return new Response(answer(id), { headers });
  },
});
console.log(JSON.stringify({ port: server.port }));
for await (const _ of Bun.stdin.stream()) {
  // Nothing is ever said here; the stream ends when the parent does.
}
process.exit(0);
