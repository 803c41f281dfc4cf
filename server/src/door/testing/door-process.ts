/**
 * A gateway in a process of its own, so that its memory can be read: door-process.ts <node's port>. Prints {"port"} when it
 * listens and ends with its standard input.
 */
import { bootDoor } from "./booted-door.ts";

const node = `127.0.0.1:${process.argv[2] ?? "0"}`;
const booted = await bootDoor({ upstreams: { devnet: { url: `http://${node}`, ws: `ws://${node}` } } });
console.log(JSON.stringify({ port: booted.port }));
for await (const _ of Bun.stdin.stream()) {
  // Nothing is ever said here; the stream ends when the parent does.
}
process.exit(0);
