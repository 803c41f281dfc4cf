import { fileURLToPath } from "node:url";
import type { Clock, Log, Random } from "@sluice/lib";
import { freePorts } from "../net/index.ts";
import { type SupervisedChild, superviseChild } from "../processes/index.ts";

/** Where the development chain answers. */
export interface ChainAddress {
  readonly rpc: string;
  readonly ws: string;
  /** Where the devnet_* methods are answered. */
  readonly admin: string;
  /** Where it serves Yellowstone. */
  readonly grpc: string;
  /** The pools of its genesis by name, the side that is priced first. */
  readonly pools: Readonly<Record<string, readonly PoolSide[]>>;
}

interface PoolSide {
  readonly vault: string;
  readonly mint: string;
  readonly decimals: number;
}

const entry = fileURLToPath(new URL("../../../devnet/chain/main.ts", import.meta.url));

/** The initial state of the chain, as its flags name it. */
export interface DevChainGenesis {
  /** Path of a genesis file. */
  readonly genesis?: string;
  /** `<url>=<address>,...` each. */
  readonly clone?: readonly string[];
  /** `<address>=<file.so>` each. */
  readonly program?: readonly string[];
  /** `<address>=<file.json>` each. */
  readonly account?: readonly string[];
  /** Directories of account files. */
  readonly accountDir?: readonly string[];
}

function genesisFlags({ genesis, clone, program, account, accountDir }: DevChainGenesis): string[] {
  return [
    ...(genesis === undefined ? [] : ["--genesis", genesis]),
    ...(clone ?? []).flatMap((source) => ["--clone", source]),
    ...(program ?? []).flatMap((source) => ["--program", source]),
    ...(account ?? []).flatMap((source) => ["--account", source]),
    ...(accountDir ?? []).flatMap((directory) => ["--account-dir", directory]),
  ];
}

/**
 * Starts the development chain as a child, with slots of `slotMs` and `traffic` generated transactions a second, its
 * validators connecting to `blockEngine` where there is one. Its
 * ports are chosen once, so that a chain that is started again is found where the one before was.
 */
export async function startDevChain(
  options: { slotMs: number; traffic: number; blockEngine: string | null } & DevChainGenesis,
  dependencies: {
    clock: Clock;
    random: Random;
    log: Pick<Log, "info" | "warn">;
  },
): Promise<SupervisedChild<ChainAddress>> {
  const names = ["rpc", "pubsub", "admin", "grpc"] as const;
  const taken = await freePorts(names.length);
  const ports = names.flatMap((name, index) => [`--${name}-port`, `${taken[index]}`]);
  const pace = [
    "--slot-ms",
    String(options.slotMs),
    "--retain-transactions",
    "200000",
    "--traffic",
    String(options.traffic),
    ...(options.blockEngine === null ? [] : ["--block-engine", options.blockEngine, "--block-engine-retry-ms", "500"]),
  ];
  return await superviseChild<ChainAddress>(
    {
      name: "chain",
      command: [process.execPath, entry, "--exit-with-parent", "--admin", ...ports, ...pace, ...genesisFlags(options)],
      env: {},
      readReady: readChainReady,
      readyTimeoutMs: 30_000,
      stopTimeoutMs: 3_000,
    },
    dependencies,
  );
}

function readChainReady(line: string): ChainAddress | null {
  if (!line.startsWith("{")) return null;
  const said: Partial<Record<"ready" | "rpc" | "ws" | "admin" | "grpc", unknown>> & Pick<ChainAddress, "pools"> =
    JSON.parse(line);
  const { rpc, ws, admin, grpc } = said;
  if (said.ready !== true || typeof rpc !== "string" || typeof ws !== "string") return null;
  return typeof admin === "string" && typeof grpc === "string"
    ? { rpc, ws, admin, grpc, pools: said.pools ?? {} }
    : null;
}
