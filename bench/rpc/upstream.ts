/**
 * The node behind every subject, a separate process: answers each JSON-RPC call with the same result of about 500
 * bytes under the call's id, batches too, and getSlot with a slot that stands. upstream.ts [tls]; prints {"port"} when
 * it listens and ends with its standard input.
 */
import { certificate, privateKey } from "../../server/src/net/http1/client/testing/certificates.ts";

const filler = "x".repeat(380);
const result = `{"slot":100,"blockTime":1700000000,"meta":{"err":null,"fee":5000,"logMessages":["${filler}"]},"version":0}`;
const slot = 1_000_000;

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  ...(process.argv[2] === "tls" ? { tls: { cert: certificate, key: privateKey } } : {}),
  async fetch(request) {
    if (request.method !== "POST") return new Response(null, { status: 404 });
    const text = await request.text();
    if (text.startsWith("[")) {
      const ids = [...text.matchAll(/"id":\s*("[^"]*"|[0-9]+|null)/g)].map(([, id]) => id);
      const answers = ids.map((id) => `{"jsonrpc":"2.0","result":${result},"id":${id}}`);
      return new Response(`[${answers.join(",")}]`, { headers: { "content-type": "application/json" } });
    }
    const id = /"id":\s*("[^"]*"|[0-9]+|null)/.exec(text)?.[1] ?? "null";
    const answer = text.includes('"getSlot"') ? slot : result;
    return new Response(`{"jsonrpc":"2.0","result":${answer},"id":${id}}`, {
      headers: { "content-type": "application/json" },
    });
  },
});
console.log(JSON.stringify({ port: server.port }));
for await (const _ of Bun.stdin.stream()) {
  // Nothing is ever said here; the stream ends when the parent does.
}
process.exit(0);
