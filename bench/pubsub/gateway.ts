/** A gateway of one checkout in a process of its own: the rooms are real, its keys and limits allow everything. */
import { join } from "node:path";

const [root = "", url = "", ws = ""] = process.argv.slice(2);
const { bootGateway, testGrant } = (await import(
  join(root, "server/src/gateway/testing/booted-gateway.ts")
)) as typeof import("../../server/src/gateway/testing/booted-gateway.ts");
const booted = await bootGateway({ upstreams: { devnet: { url, ws } } });
let accounts = 0;
booted.fakes.creditsLeft = Number.MAX_SAFE_INTEGER;
booted.fakes.authenticate = () => {
  accounts += 1;
  return { ...testGrant, accountId: `acc_${accounts}` };
};
console.log(JSON.stringify({ port: booted.port }));
for await (const _ of Bun.stdin.stream()) {
  // Nothing is written to this stream; it ends when the parent does.
}
process.exit(0);
