import { parseClickhouseUrl } from "./clickhouse-url.ts";
import { standardPorts } from "./config.ts";
import type { ConfigFault } from "./faults.ts";
import { type KeyName, type KeyValues, keys, type Mode } from "./keys.ts";
import { certificateKeys } from "./tls-keys.ts";

/** Rules between several keys. Each is checked only on values that were read, so that one mistake gives one fault. */
export function checkRules(mode: Mode, values: Partial<KeyValues>): ConfigFault[] {
  return [
    ...checkServe(mode, values),
    ...checkCluster(values),
    ...checkOracle(mode, values),
    ...checkTls(values),
    ...checkWorkers(mode, values),
    ...checkFollowers(values),
    ...checkLease(values),
    ...checkProxyProtocol(values),
    ...checkPorts(values),
  ];
}

function missing(key: KeyName, because: string): ConfigFault {
  return {
    key,
    source: "rule",
    given: "nothing",
    expected: `${keys[key].parser.expects}, since ${because}`,
    suggestion: null,
  };
}

function checkServe(mode: Mode, values: Partial<KeyValues>): ConfigFault[] {
  // The resolver reads the chain and keeps nothing, so alone it needs neither stores nor a key to encrypt them.
  if (mode !== "serve") return [];
  const faults: ConfigFault[] = [];
  if (values.MASTER_KEY === null && !isResolverAlone(values.ROLES)) {
    faults.push(missing("MASTER_KEY", "serve encrypts secrets at rest with it"));
  }
  return [...faults, ...checkRoles(values)];
}

/** A role that is named runs, or the operator is told what it lacks. */
function checkRoles(values: Partial<KeyValues>): ConfigFault[] {
  const { ROLES: chosen, NETWORK_DEFAULT: network, CHAIN_RPC_URL, ENGINE_BUILDER, ORACLE } = values;
  if (chosen === undefined) return [];
  const nodes = {
    mainnet: values.UPSTREAMS_MAINNET,
    devnet: values.UPSTREAMS_DEVNET,
    testnet: values.UPSTREAMS_TESTNET,
  };
  if (chosen.includes("resolver") && CHAIN_RPC_URL === null && network !== undefined && nodes[network] === null) {
    return [
      missing("CHAIN_RPC_URL", `the resolver reads names from a node, and ${network}, NETWORK_DEFAULT, has none`),
    ];
  }
  if (chosen.includes("ingest") && Object.values(nodes).every((list) => list === null)) {
    return [missing("UPSTREAMS_MAINNET", "ingest reads blocks from nodes, and no network has any")];
  }
  const follower = followers.find((role) => chosen.includes(role));
  if (follower !== undefined && Object.values(nodes).every((list) => list === null)) {
    return [missing("UPSTREAMS_MAINNET", `${follower} are of the networks that have nodes, and none has any`)];
  }
  if (chosen.some((role) => role !== "engine" && role !== "oracle")) return [];
  if (chosen.includes("engine") && ENGINE_BUILDER !== null) return [];
  if (chosen.includes("oracle") && ORACLE !== "off") return [];
  const opensNothing = "these roles open no endpoint otherwise";
  return [
    ...(chosen.includes("engine") ? [missing("ENGINE_BUILDER", opensNothing)] : []),
    ...(chosen.includes("oracle")
      ? [
          {
            key: "ORACLE",
            source: "rule",
            given: "off",
            expected: `live, since ${opensNothing}`,
            suggestion: null,
          } as const,
        ]
      : []),
  ];
}

/** Whether a process runs the resolver and nothing else. */
export function isResolverAlone(chosen: readonly string[] | undefined): boolean {
  return chosen?.length === 1 && chosen[0] === "resolver";
}

function checkCluster(values: Partial<KeyValues>): ConfigFault[] {
  const { CLICKHOUSE_CLUSTER: cluster, CLICKHOUSE_URL: url } = values;
  if (typeof cluster === "string" && url === null) {
    return [missing("CLICKHOUSE_URL", "CLICKHOUSE_CLUSTER is set, and the embedded engine has no cluster")];
  }
  if (cluster !== null || typeof url !== "string" || parseClickhouseUrl(url).hosts.length < 2) return [];
  return [missing("CLICKHOUSE_CLUSTER", "servers without a cluster would each keep a part of the records")];
}

function checkOracle(mode: Mode, values: Partial<KeyValues>): ConfigFault[] {
  if (mode === "dev" || values.ORACLE !== "market") return [];
  const expected = "live or off, since only dev brings a market of its own";
  return [{ key: "ORACLE", source: "rule", given: "market", expected, suggestion: null }];
}

function checkTls(values: Partial<KeyValues>): ConfigFault[] {
  return certificateKeys.flatMap(([certificate, key]) => {
    const [certificateFile, keyFile] = [values[certificate], values[key]];
    const isPair = (certificateFile === null) === (keyFile === null);
    if (certificateFile === undefined || keyFile === undefined || isPair) return [];
    return [missing(certificateFile === null ? certificate : key, "a certificate and its key come together")];
  });
}

/** Several processes of the gateway are replicas: what they count has to be in stores that all of them share. */
function checkWorkers(mode: Mode, values: Partial<KeyValues>): ConfigFault[] {
  const { WORKERS: workers, ROLES: chosen } = values;
  // dev is one process whatever is set, and the commands of a host with workers read its configuration as dev does.
  if (mode === "dev" || workers === undefined || workers === 1) return [];
  if (chosen?.includes("gateway") === false) {
    const expected = "1, since workers serve the gateway, and ROLES has none";
    return [{ key: "WORKERS", source: "rule", given: String(workers), expected, suggestion: null }];
  }
  if (chosen?.includes("streams") === true) {
    const expected =
      "1, since workers share the ports of which streams take their part: run streams as a process alone";
    return [{ key: "WORKERS", source: "rule", given: String(workers), expected, suggestion: null }];
  }
  const shared = ["DATABASE_URL", "CLICKHOUSE_URL", "REDIS_URL"] as const;
  return shared
    .filter((key) => values[key] === null)
    .map((key) => missing(key, `WORKERS is ${workers}, and each of them would count calls apart from the others`));
}

/** Roles that tell what is in the log. */
const followers = ["streams", "webhooks"] as const;

/** The log is in the files of the process that ingests unless processes share it. */
function checkFollowers({ ROLES: chosen, LOG_URL: log }: Partial<KeyValues>): ConfigFault[] {
  const follower = followers.find((role) => chosen?.includes(role));
  if (follower === undefined || chosen?.includes("ingest") === true || log !== null) return [];
  const expected = `${follower} tell the blocks of a log, and this process has none without the role ingest`;
  return [missing("LOG_URL", expected)];
}

/** Without proxies to believe nobody would send a header, and every client would count by the proxy's address. */
function checkProxyProtocol(values: Partial<KeyValues>): ConfigFault[] {
  if (values.PROXY_PROTOCOL !== "v1v2" || values.TRUSTED_PROXIES !== null) return [];
  return [missing("TRUSTED_PROXIES", "PROXY_PROTOCOL is believed of these addresses alone")];
}

/** A beat that fails must end before the lease does, or one slow statement would pass it on. */
function checkLease({ LEASE_MS: lease, DATABASE_LOOKUP_TIMEOUT_MS: lookup }: Partial<KeyValues>): ConfigFault[] {
  if (lease === undefined || lookup === undefined || lease > lookup) return [];
  const expected = `more than DATABASE_LOOKUP_TIMEOUT_MS, which is ${lookup}`;
  return [{ key: "LEASE_MS", source: "rule", given: String(lease), expected, suggestion: null }];
}

/** The port of each endpoint with the offset added. */
export function endpointPorts(
  values: Pick<KeyValues, "PORT_OFFSET" | "API_BIND" | "METRICS_BIND">,
): typeof standardPorts {
  const bases = {
    ...standardPorts,
    resolver: values.API_BIND?.port ?? standardPorts.resolver,
    metrics: values.METRICS_BIND.port,
  };
  const moved = Object.entries(bases).map(([endpoint, port]) => [endpoint, port + values.PORT_OFFSET]);
  return Object.fromEntries(moved) as typeof standardPorts;
}

function checkPorts(values: Partial<KeyValues>): ConfigFault[] {
  const { PORT_OFFSET, API_BIND, METRICS_BIND } = values;
  if (PORT_OFFSET === undefined || API_BIND === undefined || METRICS_BIND === undefined) return [];
  const faults: ConfigFault[] = [];
  const endpointAt = new Map<number, string>();
  for (const [endpoint, port] of Object.entries(endpointPorts({ PORT_OFFSET, API_BIND, METRICS_BIND }))) {
    const key =
      endpoint === "resolver" && API_BIND !== null
        ? "API_BIND"
        : endpoint === "metrics"
          ? "METRICS_BIND"
          : "PORT_OFFSET";
    const other = endpointAt.get(port);
    const given = `port ${port} for ${endpoint}`;
    if (port > 65_535) {
      faults.push({ key, source: "rule", given, expected: "ports up to 65535", suggestion: null });
    } else if (other !== undefined) {
      faults.push({ key, source: "rule", given, expected: `a port that ${other} does not use`, suggestion: null });
    }
    endpointAt.set(port, endpoint);
  }
  return faults;
}
