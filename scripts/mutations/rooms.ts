/** Whose sources are changed, and which tests must notice. */
export interface Room {
  readonly name: string;
  readonly folder: string;
  /** Folders whose tests are asked when the room's own notice nothing. */
  readonly neighbours: readonly string[];
  /** Whether its sources run in processes that tests start, so that a test's report does not show what it executes. */
  readonly runsInChildren?: true;
  /** The share of changes that must be noticed. */
  readonly goal: number;
}

/** Rooms in which a rule that no test holds costs money, data or isolation. */
const strict = 0.9;
const usual = 0.8;
const server = (name: string, goal: number, ...neighbours: readonly string[]): Room => ({
  name,
  folder: `server/src/${name}`,
  neighbours: neighbours.map((each) => `server/src/${each}/`),
  goal,
});

export const rooms: readonly Room[] = [
  server("limits", strict, "access", "gateway"),
  server("credits", strict, "access", "gateway"),
  server("keys", strict, "access", "gateway"),
  server("cache", strict, "rpc", "gateway"),
  server("rpc", strict, "gateway"),
  server("access", strict, "gateway", "admin"),
  { ...server("engine/pool", strict, "engine"), name: "pool" },
  server("state", usual, "keys", "credits", "admin", "backup"),
  server("hot", usual, "limits", "cache", "gateway"),
  server("ledger", usual, "admin"),
  server("log", usual),
  server("backup", usual, "command"),
  server("workers", usual, "compose", "command"),
  server("upstreams", usual, "gateway"),
  server("leases", usual, "engine", "compose"),
  server("processes", usual, "ledger"),
  server("http", usual, "net", "gateway"),
  server("net", usual, "gateway"),
  server("gateway", usual, "compose"),
  server("admin", usual, "gateway"),
  // The example of a file of settings is compared with what the keys make of it.
  { ...server("config", usual), neighbours: ["server/src/compose/", "scripts/"] },
  server("names", usual, "compose"),
  server("observe", usual, "compose"),
  { ...server("chain", usual, "upstreams"), name: "node-calls" },
  server("oracle", usual),
  server("engine", usual),
  server("ingest", usual, "log"),
  server("events", usual, "streams"),
  server("streams", usual, "compose"),
  server("webhooks", usual, "state"),
  server("enhanced", usual),
  // The engine's own is named so already.
  { ...server("pool", usual), name: "stake-pool" },
  server("history", usual, "ledger"),
  server("analytics", usual, "ledger"),
  server("compose", usual),
  server("command", usual),
  // The reference pages are made of it, and their tests compare them with what was published.
  { name: "contract", folder: "contract", neighbours: ["scripts/"], goal: usual },
  { name: "wire", folder: "wire", neighbours: [], goal: usual },
  { name: "lib", folder: "lib", neighbours: [], goal: usual },
  { name: "auction", folder: "auction", neighbours: [], goal: usual },
  { name: "encode", folder: "encode", neighbours: ["devnet/chain/"], goal: usual },
  { name: "parser", folder: "parser", neighbours: ["server/src/history/"], goal: usual },
  { name: "geyser", folder: "geyser", neighbours: ["server/src/streams/", "devnet/chain/yellowstone/"], goal: usual },
  {
    name: "svm",
    folder: "svm",
    neighbours: ["devnet/chain/machine/", "server/src/engine/simulation/"],
    runsInChildren: true,
    goal: usual,
  },
  { name: "sdk", folder: "sdk", neighbours: [], goal: usual },
  { name: "chain", folder: "devnet/chain", neighbours: [], goal: usual },
  { name: "market", folder: "devnet/market", neighbours: [], goal: usual },
];
