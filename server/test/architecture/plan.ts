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

/** Folders whose sub-folders are rooms, or layers inside a room: a file imports only from layers before its own. */
export interface Layered {
  /** The folder, from the repository's root. */
  readonly folder: string;
  /** Names of sub-folders, or of files without extension, lowest layer first. `.` is the files of the folder itself. */
  readonly layers: readonly (readonly string[])[];
  /** Whether each member is a room: entered through its index.ts alone, which says what it is. */
  readonly rooms: boolean;
}

export const layered: readonly Layered[] = [
  {
    folder: "server/src",
    rooms: true,
    layers: [
      ["config", "observe", "processes", "http"],
      ["net"],
      ["chain", "workers"],
      ["state", "ledger", "log", "hot"],
      ["keys", "leases", "limits", "credits", "cache", "upstreams", "backup"],
      ["access", "events", "ingest"],
      ["rpc", "names", "oracle", "engine", "history", "analytics"],
      ["streams", "webhooks"],
      ["gateway", "admin"],
      ["compose"],
      ["command"],
      ["main"],
    ],
  },
  {
    folder: "server/src/net",
    rooms: false,
    layers: [
      ["certificate-source", "events", "fronted-peers"],
      ["http1"],
      ["websocket"],
      ["listener"],
      ["front-connection"],
      ["grpc"],
      ["proxy"],
      ["tls"],
      ["index"],
    ],
  },
  {
    folder: "server/src/state",
    rooms: false,
    layers: [
      ["process-records"],
      [
        "bundle-records",
        "chain-records",
        "errors",
        "events",
        "ids",
        "lease-records",
        "meter",
        "order-records",
        "page",
        "saved-query-records",
        "secret-records",
        "snapshot-record",
        "values",
      ],
      ["engine-records", "file-lock", "group-commit", "postgres-hosts", "row-text", "webhook-records"],
      ["directory-lock", "engine-tables", "records", "webhook-tables"],
      ["paging", "postgres-pool", "schema", "tables"],
      ["pools"],
      [
        "connection",
        "engine-migration",
        "lease-books",
        "migrate",
        "postgres",
        "rows",
        "sqlite",
        "touches",
        "webhook-migration",
      ],
      ["booked-advances", "fenced-connection", "key-changes", "row-statement"],
      ["webhooks"],
      [
        "accounts",
        "audit",
        "chains",
        "credits",
        "engine",
        "keys",
        "leases",
        "migrations",
        "processes",
        "saved-queries",
        "secrets",
        "sessions",
        "turns",
        "upstream-nodes",
        "upstream-orders",
      ],
      ["snapshot"],
      ["open", "restore"],
      ["index"],
    ],
  },
  {
    folder: "server/src/ledger",
    rooms: false,
    layers: [
      ["child", "errors", "events", "native-columns", "request-fact", "request-figures", "request-limits"],
      ["table-definition"],
      ["bundle-tables", "chain-tables", "endpoint", "oracle-tables"],
      ["connection", "supervisor", "tables"],
      [
        "archive",
        "batches",
        "bundle-queries",
        "ddl",
        "request-block",
        "request-queries",
        "request-search",
        "usage-queries",
      ],
      ["chain", "fact-files", "migrations", "readiness", "retention"],
      ["requests", "restore", "sql", "table-states"],
      ["ledger"],
      ["index"],
    ],
  },
  {
    folder: "server/src/log",
    rooms: false,
    layers: [
      ["errors", "events", "packing", "records"],
      ["chain-index", "chain-logs", "head-codec"],
      ["body-tail", "cursor", "storage"],
      ["jetstream", "segments", "steps"],
      ["block-follower"],
      ["stored-chain-log"],
      ["open"],
      ["index"],
    ],
  },
  {
    folder: "server/src/upstreams",
    rooms: false,
    layers: [
      ["breaker", "chain-check", "method-latencies", "node-rests", "slot-belief", "transport", "value-scanner"],
      ["events", "slot-tracker"],
      ["large-answer"],
      ["answer"],
      ["packed-answer", "upstream-call"],
      ["answer-class"],
      ["node"],
      ["call-faults", "node-health", "node-set", "refusal-probes"],
      ["selection", "send-policy"],
      ["read-policy"],
      ["mirrored-reads"],
      ["pool"],
      ["upstreams"],
      ["slot-notices", "upstream-admin"],
      ["index"],
    ],
  },
  {
    folder: "server/src/ingest",
    rooms: false,
    layers: [
      ["source"],
      ["source-block"],
      ["admit", "appends", "finality", "gaps", "judge", "questions", "second-reads", "sources", "wants", "witnesses"],
      ["events", "pursuit"],
      ["pipeline"],
      ["ingest"],
      ["index"],
    ],
  },
  {
    folder: "server/src/oracle",
    rooms: false,
    layers: [["model"], ["sources"], ["aggregate"], ["store", "tick-log"], ["http"], ["stream"], ["wiring"], ["."]],
  },
  {
    folder: "server/src/history",
    rooms: false,
    layers: [["events", "lookups"], ["archive", "http", "writer"], ["backfill"], ["index"]],
  },
  {
    folder: "server/src/engine",
    rooms: false,
    layers: [
      ["model"],
      ["chain", "operations", "pool", "reputation", "sign-in", "simulation", "tips"],
      ["admission", "auctioneer", "grpc", "validators"],
      ["http", "sealed"],
      ["wiring"],
      ["."],
    ],
  },
  {
    folder: "server/src/streams",
    rooms: false,
    layers: [["delivery", "events"], ["flow"], ["pubsub", "socket", "yellowstone"], ["index"]],
  },
  {
    folder: "server/src/webhooks",
    rooms: false,
    layers: [["model"], ["delivery", "scheduling"], ["management"], ["index"]],
  },
  {
    folder: "server/src/gateway",
    rooms: false,
    layers: [
      ["events", "overload", "request-context"],
      ["answer", "body-reads", "web-answers"],
      ["calls", "compression"],
      ["batch"],
      ["stages"],
      ["pipeline"],
      ["gateway"],
      ["index"],
    ],
  },
  {
    folder: "server/src/admin",
    rooms: false,
    layers: [
      // What routes are made of: who may call them, what they read and the forms in which they show it.
      [
        "admin-access",
        "api-docs",
        "console-figures",
        "console-pages",
        "credit-holders",
        "count-requests",
        "engine-control",
        "issue-key",
        "key-bounds",
        "live-stream",
        "migrations",
        "pulse",
        "records",
        "reload",
        "stored-secrets",
      ],
      ["console-session", "engine-changes", "key-changes"],
      ["bundle-figures", "console-bundles", "console-names", "console-prices", "console-sql", "console-stream"],
      [
        "account-routes",
        "backfill-routes",
        "backup-routes",
        "credit-routes",
        "engine-routes",
        "ingest-routes",
        "key-routes",
        "ledger-routes",
        "requests",
        "secret-routes",
        "sent",
        "upstream-routes",
        "usage",
      ],
      ["administration", "console"],
      ["management"],
      ["index"],
    ],
  },
  {
    folder: "auction",
    rooms: false,
    layers: [
      ["interfaces", "graph"],
      ["account-ids", "rank", "conflicts"],
      ["problem", "clique-cover"],
      ["independent-set", "kernel"],
      ["group-optimum"],
      ["prices"],
      ["units"],
      ["knapsack"],
      ["gap-search"],
      ["run-auction"],
      ["index"],
    ],
  },
  {
    folder: "parser",
    rooms: false,
    layers: [
      ["transaction-view"],
      ["neutral", "program"],
      ["programs"],
      ["actions"],
      ["classify"],
      ["facts"],
      ["parse"],
      ["enhanced"],
      ["index"],
    ],
  },
  {
    folder: "svm",
    rooms: false,
    layers: [["account", "process"], ["native"], ["bank", "bundles"], ["index"]],
  },
  {
    folder: "devnet/chain",
    rooms: false,
    layers: [
      ["model"],
      ["accounts", "history", "machine", "names", "programs"],
      ["consensus"],
      ["genesis"],
      ["bank"],
      ["leader", "rpc"],
      ["pubsub", "traffic"],
      ["yellowstone"],
      ["faults"],
      ["."],
    ],
  },
  {
    folder: "devnet/market",
    rooms: false,
    layers: [
      ["model"],
      ["process"],
      ["faults", "options"],
      ["venue"],
      ["exchanges"],
      ["hub"],
      ["front"],
      ["admin"],
      ["market"],
      ["main"],
    ],
  },
  {
    folder: "wire",
    rooms: false,
    layers: [
      ["base58", "json"],
      ["address-texts", "identifiers"],
      ["bytes", "name-services", "program-address", "programs"],
      ["accounts", "frames", "runtime-rules", "transaction"],
    ],
  },
  {
    folder: "contract",
    rooms: false,
    layers: [
      [
        "api-key",
        "close-codes",
        "credits",
        "errors",
        "ledger",
        "limits",
        "name-errors",
        "openapi-names",
        "proto",
        "rpc",
        "sql",
        "streams",
        "tiers",
      ],
      ["engine", "errors-guide", "oracle", "permissions", "webhooks", "yellowstone"],
      ["engine-errors-guide", "schemas", "sealed-bundle"],
      ["oracle-errors-guide"],
      ["openapi", "reference"],
      ["openapi-page"],
    ],
  },
];

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
