/**
 * One process of bench/names, by its first argument: `node` answers the resolver's RPC from accounts made at start,
 * `resolver <node url>` is the resolver behind Bun.serve, `bare` is Bun.serve with a JSON answer of the same shape.
 * Each prints one JSON line with its URL, reports at /cpu the processor time that it has used, and ends with its
 * standard input.
 */
import { createHash } from "node:crypto";
import { systemClock, systemRandom } from "@sluice/lib";
import { encodeNameRegistry, nameRegistryAddress } from "@sluice/wire/accounts/name-registry";
import { decodeAddress } from "@sluice/wire/base58";
import { addressOfBytes } from "@sluice/wire/identifiers";
import { nameServices } from "@sluice/wire/name-services";
import { createNames, httpNode } from "../../server/src/names/index.ts";
import { hotNames, namesKnown, owner } from "./workload.ts";

type Handler = (request: Request) => Response | Promise<Response>;

const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash("sha256").update(bytes).digest());

function registries(): Map<string, object> {
  const program = nameServices[0]?.nameProgram ?? "";
  const programBytes = decodeAddress(program) ?? new Uint8Array(32);
  const parent = nameRegistryAddress("x1", {}, programBytes, sha256);
  const data = encodeNameRegistry({ parent, owner: decodeAddress(owner) ?? new Uint8Array(32) }).toBase64();
  const account = { lamports: 1, owner: program, executable: false, rentEpoch: 0, data: [data, "base64"], space: 96 };
  const accounts = new Map<string, object>([[program, { ...account, executable: true }]]);
  for (const label of namesKnown()) {
    accounts.set(addressOfBytes(nameRegistryAddress(label, { parent }, programBytes, sha256)), account);
  }
  return accounts;
}

function nodeHandler(): Handler {
  const accounts = registries();
  return async (request) => {
    const { id, params } = (await request.json()) as { id: number; params: [string[]] };
    const value = params[0].map((address) => accounts.get(address) ?? null);
    return Response.json({ jsonrpc: "2.0", id, result: { context: { slot: 1 }, value } });
  };
}

async function resolverHandler(nodeUrl: string): Promise<Handler> {
  const names = createNames(
    {},
    { clock: systemClock, random: systemRandom, node: httpNode({ rpcUrl: nodeUrl }, { post: fetch }) },
  );
  await names.start();
  return (request) => names.fetch(request);
}

const bareHandler: Handler = () =>
  Response.json({ input: hotNames[0], name: hotNames[0], namespace: "x1", owner, verification: "owner" });

async function handlerOf(role: string | undefined, nodeUrl: string): Promise<Handler> {
  if (role === "node") return nodeHandler();
  return role === "resolver" ? await resolverHandler(nodeUrl) : bareHandler;
}

const handler = await handlerOf(process.argv[2], process.argv[3] ?? "");
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  development: false,
  fetch: (request) => {
    if (!request.url.endsWith("/cpu")) return handler(request);
    const { user, system } = process.cpuUsage();
    return Response.json({ cpuMicros: user + system });
  },
});
console.log(JSON.stringify({ url: `http://127.0.0.1:${server.port}` }));
process.stdin.on("end", () => process.exit(0)).resume();
