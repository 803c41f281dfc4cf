import { type KeyName, keyNames, keys } from "./keys.ts";

/** What a key without a default looks like when it is set, as an operator would type it. */
export const examples: Readonly<Partial<Record<KeyName, string>>> = {
  TRUSTED_PROXIES: "10.0.0.0/8",
  MAX_CONNECTIONS: "20000",
  PUBLIC_URL: "https://rpc.example",
  PUBLIC_URL_PUBSUB: "wss://rpc.example",
  PUBLIC_URL_ORACLE: "https://prices.example",
  PUBLIC_URL_RESOLVER: "https://names.example",
  PUBLIC_URL_YELLOWSTONE: "https://geyser.example",
  PUBLIC_URL_ENGINE: "https://bundles.example",
  PUBLIC_URL_ENGINE_GRPC: "https://engine.example:7441",
  // Nobody should run with the key of an example.
  MASTER_KEY: "",
  MASTER_KEY_PREVIOUS: "",
  UPSTREAMS_MAINNET:
    "alpha=https://node-a.example;ws=wss://node-a.example;groups=read+archive+send,beta=https://node-b.example",
  UPSTREAMS_DEVNET: "alpha=https://devnet.example",
  UPSTREAMS_TESTNET: "alpha=https://testnet.example",
  GENESIS_MAINNET: "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d",
  GENESIS_DEVNET: "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG",
  GENESIS_TESTNET: "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY",
  GENESIS_ALLOW_UNKNOWN: "alpha",
  PROGRAM_IDLS: "/etc/sluice/idls",
  DATABASE_URL: "postgres://sluice@postgres.internal:5432/sluice",
  CLICKHOUSE_URL: "http://clickhouse.internal:8123",
  CLICKHOUSE_CLUSTER: "main",
  LOG_URL: "nats://nats-1.internal:4222,nats-2.internal:4222,nats-3.internal:4222",
  REDIS_URL: "redis://redis.internal:6379",
  API_BIND: "127.0.0.1:8691",
  CHAIN_RPC_URL: "https://node-a.example",
  NAME_PROGRAM: "namesLPneVptA9Z5rqUDD9tMTWEJwofgaYwp8cawRkX",
  HANDLE_PROGRAM: "namesLPneVptA9Z5rqUDD9tMTWEJwofgaYwp8cawRkX",
  ORACLE_ENDPOINTS: "kraken=https://mirror.example;ws=wss://mirror.example",
  ORACLE_POOLS:
    "XNT/USDC;base=9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin:So11111111111111111111111111111111111111112:9;quote=4k3Dyjzvzp8eMZWUXbBCjEvwSkkk59S5iCNLY3QrkX6R:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v:6",
  ORACLE_SUNSET: "2030-06-30",
  ORACLE_SUCCESSOR: "https://prices.example/openapi.json",
  ENGINE_BUILDER: "2zW829aYk62MujHhVsbi9WtoZCUUtx1Y93Uzc43gjamf",
  ENGINE_VALIDATORS: "2zW829aYk62MujHhVsbi9WtoZCUUtx1Y93Uzc43gjamf",
  WEBHOOK_ALLOW_PRIVATE_CIDRS: "10.20.0.0/16",
  METADATA_ALLOW_PRIVATE_CIDRS: "10.30.0.0/16",
  ENGINE_URL: "https://engine.example:7441",
  STAKE_POOL: "Jito4APyf642JPZPx3hGc6WWJ8zPKtRbRs4P815Awbb",
  STAKE_POOL_PROGRAM: "SPoo1Ku8WFXoNDMHPsrGSTSG1Y47rzgn41SLUNakuHy",
  TIP_DISTRIBUTION_PROGRAM: "4R3gSG8BpU4t19KYj8CfnbtRpnT8gtk4dvTHxVRwc2r7",
  ENGINE_TLS_CERT: "/etc/sluice/tls/engine.pem",
  ENGINE_TLS_KEY: "/etc/sluice/tls/engine.key",
  TLS_CERT_FILE: "/etc/sluice/tls/fullchain.pem",
  TLS_KEY_FILE: "/etc/sluice/tls/privkey.pem",
  GATEWAY_TLS_CERT_FILE: "/etc/sluice/tls/rpc.pem",
  GATEWAY_TLS_KEY_FILE: "/etc/sluice/tls/rpc.key",
  ORACLE_TLS_CERT_FILE: "/etc/sluice/tls/prices.pem",
  ORACLE_TLS_KEY_FILE: "/etc/sluice/tls/prices.key",
  RESOLVER_TLS_CERT_FILE: "/etc/sluice/tls/names.pem",
  RESOLVER_TLS_KEY_FILE: "/etc/sluice/tls/names.key",
  YELLOWSTONE_TLS_CERT_FILE: "/etc/sluice/tls/geyser.pem",
  YELLOWSTONE_TLS_KEY_FILE: "/etc/sluice/tls/geyser.key",
  OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318",
};

const lineLengthMax = 116;

/** Words in lines that begin with `# `. */
function comment(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length >= lineLengthMax) lines.push(`# ${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** A value of TOML: numbers stay numbers, all else is text. */
const tomlValue = (text: string): string => (/^(0|[1-9]\d{0,14})$/.test(text) ? text : JSON.stringify(text));

/** One setting: what it does, what it accepts, and its line as a comment. */
function settingLines(name: KeyName, setting: string): string[] {
  const { parser, defaults, description, secrecy } = keys[name];
  const isSecret = secrecy === "hidden" || secrecy === "address";
  return [
    ...comment(description),
    ...comment(`Accepts ${parser.expects}.`),
    `# ${name} in the environment${isSecret ? ", where secrets belong" : ""}.`,
    ...(defaults.serve === null ? ["# Not set by default; for example:"] : []),
    `#${setting} = ${tomlValue(defaults.serve ?? examples[name] ?? "")}`,
    "",
  ];
}

/**
 * deploy/sluice.example.toml: each key that a file can hold, as a comment with its default under `serve`, or with an
 * example where there is none. A setting is taken by removing its `#`.
 */
export function renderConfigurationExample(): string {
  const tables = new Map<string, string[]>();
  for (const name of keyNames) {
    const { toml } = keys[name];
    if (toml === null) continue;
    const at = toml.lastIndexOf(".");
    const lines = tables.get(toml.slice(0, at)) ?? [];
    tables.set(toml.slice(0, at), lines);
    lines.push(...settingLines(name, toml.slice(at + 1)));
  }
  return [...tables].flatMap(([table, lines]) => [`[${table}]`, "", ...lines]).join("\n");
}
