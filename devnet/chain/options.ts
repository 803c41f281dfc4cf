import { parseArgs } from "node:util";
import { type GenesisSources, joinTwoParts, readSources } from "./genesis/index.ts";
import { readBlockEngine } from "./leader/index.ts";
import { defaultBodyBytesMax } from "./rpc/index.ts";

/** All options of a chain. */
export interface NodeOptions extends GenesisSources {
  readonly host: string;
  /** 0 takes a free port. */
  readonly rpcPort: number;
  readonly pubsubPort: number;
  /** 0 stops the clock: the owner of the node closes slots. */
  readonly slotMs: number;
  /** Slots with a block that are closed before the node is ready, in the time before it; none with a stopped clock. */
  readonly startSlots: number;
  readonly seed: string;
  readonly faucetLamports: bigint;
  readonly slotsPerEpoch: bigint;
  readonly confirmedAfter: number;
  readonly finalizedAfter: number;
  readonly slotsMax: number;
  readonly transactionsMax: number;
  readonly pendingMax: number;
  readonly subscriptionsMax: number;
  readonly bodyBytesMax: number;
  readonly validators: number;
  /** Whether the validators' votes are transactions. */
  readonly votes: boolean;
  /** Transactions a second that the chain makes itself, so that it looks alive; 0 makes none. */
  readonly traffic: number;
  /** Any text: what the traffic does follows from it. */
  readonly trafficSeed: string;
  /** Whether the devnet_* methods exist, on every endpoint and on a separate one. */
  readonly admin: boolean;
  readonly adminPort: number;
  /** Of Yellowstone over gRPC; null does not serve it. */
  readonly grpcPort: number | null;
  /** What its clients send as `x-token`; null asks for none. */
  readonly grpcToken: string | null;
  /** Where the validators' block engine is; null when they have none. */
  readonly blockEngine: string | null;
  /** Whether they look for the nearest of its regions. */
  readonly blockEngineNearest: boolean;
  /** How long they wait before they connect again. */
  readonly blockEngineRetryMs: number;
}

export const defaultOptions: NodeOptions = {
  host: "127.0.0.1",
  rpcPort: 8899,
  pubsubPort: 8900,
  slotMs: 400,
  startSlots: 64,
  seed: "sluice",
  faucetLamports: 500_000_000_000_000_000n,
  slotsPerEpoch: 432n,
  confirmedAfter: 1,
  finalizedAfter: 32,
  slotsMax: 65_536,
  transactionsMax: 1_000_000,
  pendingMax: 10_000,
  subscriptionsMax: 1_000_000,
  bodyBytesMax: defaultBodyBytesMax,
  validators: 5,
  votes: true,
  traffic: 0,
  trafficSeed: "sluice",
  admin: false,
  adminPort: 0,
  grpcPort: null,
  grpcToken: null,
  blockEngine: null,
  blockEngineNearest: true,
  blockEngineRetryMs: 5_000,
  genesisPath: null,
  clones: [],
  programs: [],
  accountFiles: [],
  accountDirectories: [],
};

interface CommandLine {
  readonly options: NodeOptions;
  /** End when standard input ends: a child that must not outlive its parent. */
  readonly exitWithParent: boolean;
  /** A directory was named, which this chain does not use. */
  readonly dataIgnored: boolean;
}

export type ParsedCommandLine =
  | ({ readonly ok: true } & CommandLine)
  | { readonly ok: false; readonly faults: readonly string[] };

const flagNames = {
  host: "host",
  "rpc-port": "rpcPort",
  "pubsub-port": "pubsubPort",
  "slot-ms": "slotMs",
  "start-slots": "startSlots",
  seed: "seed",
  "genesis-lamports": "faucetLamports",
  "slots-per-epoch": "slotsPerEpoch",
  "confirmed-after": "confirmedAfter",
  "finalized-after": "finalizedAfter",
  "retain-slots": "slotsMax",
  "retain-transactions": "transactionsMax",
  "pending-transactions": "pendingMax",
  "max-subscriptions": "subscriptionsMax",
  "max-body-bytes": "bodyBytesMax",
  validators: "validators",
  traffic: "traffic",
  "traffic-seed": "trafficSeed",
  "admin-port": "adminPort",
  "block-engine-retry-ms": "blockEngineRetryMs",
} as const satisfies {
  readonly [flag: string]: Exclude<
    keyof NodeOptions,
    "admin" | "votes" | "blockEngine" | "blockEngineNearest" | "grpcPort" | "grpcToken" | keyof GenesisSources
  >;
};

/** Lowest and highest value of each number; a faucet keeps below what all lamports together may be. */
const ranges: { readonly [flag: string]: readonly [bigint, bigint] } = {
  "rpc-port": [0n, 65_535n],
  "pubsub-port": [0n, 65_535n],
  "admin-port": [0n, 65_535n],
  "grpc-port": [0n, 65_535n],
  "slot-ms": [0n, 60_000n],
  "start-slots": [0n, 5_000n],
  "genesis-lamports": [1_000_000_000n, 10_000_000_000_000_000_000n],
  "slots-per-epoch": [32n, 432_000n],
  "confirmed-after": [0n, 31n],
  "finalized-after": [1n, 128n],
  "retain-slots": [300n, 10_000_000n],
  "retain-transactions": [1n, 100_000_000n],
  "pending-transactions": [1n, 1_000_000n],
  "max-subscriptions": [1n, 10_000_000n],
  "max-body-bytes": [1_024n, 16_777_216n],
  validators: [1n, 32n],
  traffic: [0n, 1_000n],
  "block-engine-retry-ms": [10n, 600_000n],
};

function readFlag(
  flag: string,
  text: string,
  like: string | number | bigint,
): { value: string | number | bigint } | { fault: string } {
  if (typeof like === "string") return { value: text };
  const [lowest, highest] = ranges[flag] ?? [0n, 0n];
  const number = /^\d{1,20}$/.test(text) ? BigInt(text) : -1n;
  if (number < lowest || number > highest)
    return { fault: `--${flag} must be a whole number from ${lowest} to ${highest}` };
  return { value: typeof like === "bigint" ? number : Number(number) };
}

/** The flags of an endpoint that is there only when it is asked for. */
function readYellowstone(
  values: Record<string, unknown>,
  { read, faults }: { readonly read: Record<string, unknown>; readonly faults: string[] },
): void {
  const { "grpc-port": port, "grpc-token": token } = values;
  if (typeof token === "string" && typeof port !== "string") faults.push("--grpc-token needs --grpc-port");
  if (typeof token === "string") read["grpcToken"] = token;
  if (typeof port !== "string") return;
  const result = readFlag("grpc-port", port, 0);
  if ("fault" in result) faults.push(result.fault);
  else read["grpcPort"] = result.value;
}

/** Reads the command line; all faults are reported at once. */
export function parseCommandLine(argv: readonly string[]): ParsedCommandLine {
  const flags = Object.fromEntries(Object.keys(flagNames).map((flag) => [flag, { type: "string" as const }]));
  let values: Record<string, unknown>;
  try {
    values = parseArgs({
      args: joinTwoParts(argv),
      options: {
        ...flags,
        data: { type: "string" },
        "exit-with-parent": { type: "boolean" },
        admin: { type: "boolean" },
        genesis: { type: "string" },
        clone: { type: "string", multiple: true },
        program: { type: "string", multiple: true },
        account: { type: "string", multiple: true },
        "account-dir": { type: "string", multiple: true },
        votes: { type: "boolean" },
        "no-votes": { type: "boolean" },
        "block-engine": { type: "string" },
        "disable-block-engine-autoconfig": { type: "boolean" },
        "grpc-port": { type: "string" },
        "grpc-token": { type: "string" },
      },
      strict: true,
    }).values;
  } catch (error) {
    return { ok: false, faults: [error instanceof Error ? error.message : String(error)] };
  }
  const faults: string[] = [];
  const read: Record<string, unknown> = {
    ...defaultOptions,
    ...readSources(values, faults),
    admin: values["admin"] === true,
    votes: values["no-votes"] !== true,
    blockEngineNearest: values["disable-block-engine-autoconfig"] !== true,
  };
  const engine = readBlockEngine(typeof values["block-engine"] === "string" ? values["block-engine"] : "off");
  if (typeof engine === "object" && engine !== null) faults.push(engine.fault);
  else read["blockEngine"] = engine;
  readYellowstone(values, { read, faults });
  for (const [flag, name] of Object.entries(flagNames)) {
    const text = values[flag];
    if (typeof text !== "string") continue;
    const result = readFlag(flag, text, defaultOptions[name]);
    if ("fault" in result) faults.push(result.fault);
    else read[name] = result.value;
  }
  if (values["votes"] === true && values["no-votes"] === true) faults.push("--votes and --no-votes exclude each other");
  const options = read as unknown as NodeOptions;
  if (options.confirmedAfter > options.finalizedAfter)
    faults.push("--confirmed-after must not exceed --finalized-after");
  if (faults.length > 0) return { ok: false, faults };
  return {
    ok: true,
    options,
    exitWithParent: values["exit-with-parent"] === true,
    dataIgnored: values["data"] !== undefined,
  };
}
