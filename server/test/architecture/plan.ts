/** The plan that the rules hold the code to: who may import whom, and who owns what of the runtime. */

/** What a workspace may import of Sluice, besides its own files. */
export const workspaceImports: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  wire: [],
  lib: [],
  svm: ["contract", "wire", "lib"],
  auction: ["wire", "lib"],
  sdk: ["contract", "wire"],
  console: ["sdk"],
  encode: ["wire", "svm"],
  parser: ["wire", "encode"],
  geyser: ["wire", "encode"],
  devnet: ["contract", "wire", "lib", "svm", "encode", "geyser"],
  server: ["contract", "wire", "lib", "svm", "auction", "encode", "parser", "geyser", "console", "devnet"],
  bench: ["contract", "wire", "lib", "svm", "auction", "encode", "parser", "geyser", "sdk", "server", "devnet"],
  scripts: [
    "contract",
    "wire",
    "lib",
    "svm",
    "auction",
    "encode",
    "parser",
    "geyser",
    "sdk",
    "console",
    "server",
    "devnet",
    "bench",
  ],
};

/** Packages that only one room of the server may import. */
export const drivers: Readonly<Record<string, string>> = {
  kysely: "server/src/state/",
  pg: "server/src/state/",
  "bun:sqlite": "server/src/state/",
  chdb: "server/src/ledger/",
  "@clickhouse/client": "server/src/ledger/",
  ioredis: "server/src/hot/",
  "@nats-io/jetstream": "server/src/log/",
  "@nats-io/transport-node": "server/src/log/",
  "node:http": "server/src/net/",
  "node:https": "server/src/net/",
};

/** A capability of the runtime, and the only places of what ships that may use it. */
export interface Capability {
  readonly rule: "timer" | "clock" | "environment" | "socket" | "console";
  readonly uses: ReadonlySet<string>;
  /** Beginnings of paths that the rule is about. */
  readonly within: readonly string[];
  /** Beginnings of paths that may use it. */
  readonly owners: readonly string[];
}

const logic = ["lib/", "svm/", "encode/", "parser/", "geyser/", "auction/", "devnet/", "server/src/"];

export const capabilities: readonly Capability[] = [
  {
    rule: "timer",
    uses: new Set(["setTimeout", "setInterval", "Bun.sleep"]),
    within: logic,
    owners: ["lib/clock.ts"],
  },
  {
    rule: "clock",
    uses: new Set([
      "Date.now",
      "new Date",
      "performance.now",
      "Math.random",
      "crypto.getRandomValues",
      "crypto.randomUUID",
      "randomUUID",
      "randomBytes",
    ]),
    within: logic,
    owners: ["lib/clock.ts", "lib/random.ts"],
  },
  {
    rule: "environment",
    uses: new Set(["process.env", "Bun.env"]),
    within: ["server/src/"],
    owners: ["server/src/config/"],
  },
  {
    rule: "socket",
    uses: new Set(["Bun.serve", "Bun.listen", "Bun.connect", "new WebSocket"]),
    within: ["server/src/"],
    // The ledger's engine is a process of its own, which answers only its parent.
    owners: ["server/src/net/", "server/src/ledger/child/"],
  },
  {
    rule: "console",
    uses: new Set(["console.log", "console.error", "console.warn", "console.info"]),
    within: logic,
    owners: [],
  },
];

/** Rooms that call out by fetch: to nodes, to exchanges, and the `sluice` command to its own server's socket. */
export const fetchOwners: readonly string[] = ["upstreams", "chain", "oracle", "names", "command", "workers"].map(
  (room) => `server/src/${room}/`,
);

export const limits = { fileLines: 500, functionLines: 70, parameters: 3, lineLength: 120 } as const;
