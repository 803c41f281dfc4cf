/**
 * A gateway in a process of its own, so that its memory can be read: gateway-process.ts <node's URL>. Prints {"port"}
 * when it listens and ends with its standard input.
 */
import { bootGateway } from "./booted-gateway.ts";

const url = process.argv[2] ?? "";
const booted = await bootGateway({ upstreams: { devnet: { url, ws: url.replace("http", "ws") } } });
console.log(JSON.stringify({ port: booted.port }));
for await (const _ of Bun.stdin.stream()) {
  // Nothing is ever said here; the stream ends when the parent does.
}
process.exit(0);
