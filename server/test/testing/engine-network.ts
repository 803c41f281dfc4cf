/** A whole Sluice before a development chain of a test's own, whose validators connect to its block engine. */
import { protoFiles } from "@sluice/contract/proto";
import { eventually } from "@sluice/lib/testing";
import { PlainClient } from "../../src/net/grpc/testing/grpc-client.ts";
import { type FaultyChain, startFaultyChain } from "./chain.ts";
import { freePortOffset, type Network, runSluice, startNetwork } from "./network.ts";

/** Long enough for a busy machine to build a block in, short enough for a test to wait for many. */
const slotMs = 150;
/** Short, so that a bundle's last state comes soon. */
const finalizedAfter = 12;
const enginePort = 7440;

export interface EngineNetwork extends AsyncDisposable {
  readonly chain: FaultyChain;
  /** The server as it runs now. */
  readonly network: Network;
  /** The REST endpoint's address. */
  readonly rest: string;
  readonly grpcPort: number;
  /** A plain client of the block engine's own service. */
  client(): PlainClient;
  /** Kills the server, or stops it, and starts it again on its directory; `meanwhile` runs between. */
  restart(signal: "SIGTERM" | "SIGKILL", meanwhile?: () => void): Promise<void>;
  /** A command of `sluice` against the running server, with what it prints as JSON. */
  sluice(...args: readonly string[]): Promise<Record<string, string>>;
  /** An account of its own, and a key with these permissions. */
  account(name: string, ...permissions: readonly string[]): Promise<string>;
}

export interface EngineNetworkOptions {
  readonly chain?: readonly string[];
}

export async function startEngineNetwork(options: EngineNetworkOptions = {}): Promise<EngineNetwork> {
  const portOffset = await freePortOffset();
  const grpcPort = enginePort + portOffset;
  const pace = ["--slot-ms", String(slotMs), "--finalized-after", String(finalizedAfter)];
  const flags = [...pace, "--block-engine-retry-ms", "100", ...(options.chain ?? [])];
  const chain = await startFaultyChain(...flags);
  const boot = async (directory?: string): Promise<Network> => {
    const started = await startNetwork({
      portOffset,
      env: { UPSTREAMS_DEVNET: `devnet=${chain.rpc};ws=${chain.ws}` },
      args: ["--oracle", "off"],
      ...(directory === undefined ? {} : { directory }),
    });
    if (directory === undefined) await chain.admin("devnet_blockEngine", { url: `http://127.0.0.1:${grpcPort}` });
    await eventually("the validators are connected", async () => (await connected(chain)).length === 5);
    return started;
  };
  try {
    let network = await boot();
    return {
      chain,
      get network() {
        return network;
      },
      rest: `${network.dev.doors["engineRest"]}`,
      grpcPort,
      client: () => new PlainClient(grpcPort, { file: protoFiles.blockEngine, service: "blockengine.v1.BlockEngine" }),
      async restart(signal, meanwhile) {
        await network.end(signal);
        meanwhile?.();
        network = await boot(network.directory);
      },
      sluice: (...args) => sluice(network, args),
      account: (name, ...permissions) => account(network, name, permissions),
      async [Symbol.asyncDispose]() {
        await chain.admin("devnet_blockEngine", { url: null });
        await network[Symbol.asyncDispose]();
        await chain[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await chain[Symbol.asyncDispose]();
    throw error;
  }
}

/** Identities of validators that the engine has taken in. */
export async function connected(chain: FaultyChain): Promise<readonly string[]> {
  const { blockEngine } = (await chain.admin("devnet_info")) as {
    blockEngine: { links: readonly { identity: string; connected: boolean }[] };
  };
  return blockEngine.links.flatMap((link) => (link.connected ? [link.identity] : []));
}

async function sluice({ directory }: Network, args: readonly string[]): Promise<Record<string, string>> {
  const { code, out, err } = await runSluice([...args, "--json"], { directory });
  if (code !== 0) throw new Error(err);
  return JSON.parse(out);
}

async function account(network: Network, name: string, permissions: readonly string[]): Promise<string> {
  const { id = "" } = await sluice(network, ["accounts", "create", "--name", name]);
  const allowed = permissions.flatMap((permission) => ["--permission", permission]);
  const created = await sluice(network, ["keys", "create", "--account", id, "--environment", "dev", ...allowed]);
  return created["key"] ?? "";
}
