import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { describeConfig } from "./describe.ts";
import { formatFaults, nearestName } from "./faults.ts";
import { flagName, keyNames, modes, roles } from "./keys.ts";
import { type ConfigInput, loadConfig } from "./load.ts";
import { faultsOf, load, masterKey } from "./testing/loaded-config.ts";

const nothing = { endpoints: [], roles: [] };

describe("precedence", () => {
  test("a flag wins over the environment, which wins over the file, which wins over the default", () => {
    const tomlText = '[server]\nport_offset = 1\nbind = "::1"\n[observe]\nlog_level = "warn"\n';
    const env = { PORT_OFFSET: "2", LOG_LEVEL: "error" };
    const config = load({ env, tomlText, flags: { portOffset: 3 } });
    expect([config.portOffset, config.logLevel, config.bind, config.cordonSlots]).toEqual([3, "error", "::1", 50]);
    const sources = Object.fromEntries(config.settings.map(({ name, source }) => [name, source]));
    expect(sources).toMatchObject({
      PORT_OFFSET: "flag",
      LOG_LEVEL: "environment",
      BIND: "file",
      CORDON_SLOTS: "default",
    });
  });

  test("lists may be arrays in the file", () => {
    const tomlText = '[server]\nroles = ["resolver", "gateway"]\n[upstreams]\nmainnet = ["a=http://a", "b=http://b"]\n';
    const config = load({ tomlText });
    expect(config.roles).toEqual(["gateway", "resolver"]);
    expect(config.upstreams.mainnet.map(({ label }) => label)).toEqual(["a", "b"]);
  });

  test("a secret is not accepted on the command line, where others can read it", () => {
    const faults = faultsOf({ flags: { masterKey } });
    expect(faults.map(({ key }) => key)).toEqual(["--master-key"]);
    expect(formatFaults(faults)).not.toContain(masterKey);
  });
});

describe("faults", () => {
  test("all of them are reported at once", () => {
    const faults = faultsOf({
      mode: "serve",
      env: { BIND: "a b", LOG_LEVEL: "loud", ROLES: "gateway", SLUICE_CONFG: "x" },
      tomlText: '[stores]\ndatabase_url = "mysql://db"\ncolour = 1\n',
      flags: { "port-offset": "x", banner: "y" },
    });
    expect(faults.map(({ key }) => key).sort()).toEqual(
      [
        "--banner",
        "--port-offset",
        "BIND",
        "LOG_LEVEL",
        "MASTER_KEY",
        "SLUICE_CONFG",
        "stores.colour",
        "stores.database_url",
      ].sort(),
    );
  });

  test.each([
    ["SLUICE_CONFG", "SLUICE_CONFIG"],
    ["UPSTREAMS_MAINET", "UPSTREAMS_MAINNET"],
    ["SLUICE_LOG_LEVEL", "LOG_LEVEL"],
    ["SLUICE_SOMETHING_ELSE_ENTIRELY", null],
  ])("the unknown variable %s suggests %s", (name, suggestion) => {
    expect(faultsOf({ env: { [name]: "x" } })).toMatchObject([{ key: name, given: null, suggestion }]);
  });

  test("unknown keys of the file and unknown flags suggest what was meant", () => {
    expect(faultsOf({ tomlText: "[server]\nbnd = 1\n" })).toMatchObject([
      { key: "server.bnd", suggestion: "server.bind" },
    ]);
    expect(faultsOf({ tomlText: "LOG_LEVEL = 'info'\n" })).toMatchObject([{ suggestion: "observe.log_level" }]);
    expect(faultsOf({ tomlText: "[mystery]\n" })).toMatchObject([{ key: "mystery" }]);
    expect(faultsOf({ flags: { portOfset: 1 } })).toMatchObject([{ key: "--port-ofset", suggestion: "--port-offset" }]);
  });

  test("a table of unknown keys is reported once, by its path of at most eight parts", () => {
    const path = (levels: number): string => Array.from({ length: levels }, (_unused, at) => `t${at}`).join(".");
    expect(faultsOf({ tomlText: `[${path(7)}]\nvalue = 1\n` })).toMatchObject([{ key: `${path(7)}.value` }]);
    const deep = faultsOf({ tomlText: `[${path(40)}]\nvalue = 1\n` });
    expect(deep.map(({ key }) => key)).toEqual([path(8)]);
  });

  test("letters swapped in one place of a short name are a slip, in two places another name", () => {
    expect(nearestName("prot", ["port"])).toBe("port");
    expect(nearestName("oprt", ["port"])).toBe("port");
    expect(nearestName("optr", ["port"])).toBeNull();
  });

  test("variables of other programs and of the tests are left alone", () => {
    expect(faultsOf({ env: { PATH: "/bin", HOME: "/", SLUICE_TEST_POSTGRES_URL: "x", DATABASE: "y" } })).toEqual([]);
  });

  test("a file that is not TOML is reported by its place, without quoting it", () => {
    const faults = faultsOf({ tomlText: '[server]\nmaster_key = "hunter2hunter2\n' });
    expect(faults).toMatchObject([{ key: "SLUICE_CONFIG", source: "file" }]);
    expect(faults[0]?.given).toMatch(/line 2/);
    expect(formatFaults(faults)).not.toContain("hunter2");
  });

  test.each([
    ["[server\nbind = 1", "illegal character in key", "line 1"],
    ["[server]\nbind = hunter2", "invalid value", "line 2"],
    ["bind 1", "illegal character in key", "line 1"],
    ["a = 1\na = 2", "trying to redefine", "line 2"],
  ])("a file that is not TOML says which rule it breaks: %s", (tomlText, rule, place) => {
    const [fault] = faultsOf({ tomlText });
    expect(fault?.given).toContain(rule);
    expect(fault?.given).toContain(place);
    expect(fault?.given).not.toContain("hunter2");
  });

  test("a table or a date in place of a value is a fault", () => {
    expect(faultsOf({ tomlText: "[server.bind]\nhost = 1\n" })).toMatchObject([{ key: "server.bind.host" }]);
    expect(faultsOf({ tomlText: "[server]\nbind = 2026-01-01\n" })).toMatchObject([{ key: "server.bind" }]);
  });
});

describe("rules", () => {
  test("serve needs a master key; dev does not", () => {
    expect(faultsOf({ mode: "serve" }).map(({ key }) => key)).toEqual(["MASTER_KEY"]);
    expect(faultsOf({ mode: "dev" })).toEqual([]);
  });

  const secret = { MASTER_KEY: masterKey };
  const serveFaults = (env: Readonly<Record<string, string>>): readonly string[] =>
    faultsOf({ mode: "serve", env }).map(({ key }) => key);

  test("any roles run in one process, on the stores of its directory", () => {
    for (const chosen of ["gateway", "oracle", "gateway,oracle", "gateway,engine"]) {
      expect(serveFaults({ ...secret, ROLES: chosen })).toEqual([]);
    }
    expect(faultsOf({ mode: "dev", env: { ROLES: "gateway" } })).toEqual([]);
  });

  test("serve runs the resolver only where it is named", () => {
    expect(load({ mode: "serve", env: secret }).roles).toEqual(["gateway", "oracle", "engine"]);
    expect(load({ mode: "dev" }).roles).toEqual(roles);
  });

  test("the resolver needs a node of its own or of the default network, and alone no stores and no key", () => {
    expect(serveFaults({ ROLES: "resolver" })).toEqual(["CHAIN_RPC_URL"]);
    expect(serveFaults({ ROLES: "resolver", UPSTREAMS_DEVNET: "a=http://a" })).toEqual(["CHAIN_RPC_URL"]);
    expect(serveFaults({ ROLES: "resolver", CHAIN_RPC_URL: "http://a" })).toEqual([]);
    expect(serveFaults({ ROLES: "resolver", UPSTREAMS_MAINNET: "a=http://a" })).toEqual([]);
    expect(serveFaults({ ...secret, ROLES: "all" })).toEqual(["CHAIN_RPC_URL"]);
    // What a role that cannot be read would need is not said.
    expect(serveFaults({ ...secret, ROLES: "gatewey" })).toEqual(["ROLES"]);
  });

  test("serve ingests only where that is named, and then needs a node of some network", () => {
    expect(serveFaults({ ...secret, ROLES: "ingest" })).toEqual(["UPSTREAMS_MAINNET"]);
    expect(serveFaults({ ...secret, ROLES: "gateway,ingest" })).toEqual(["UPSTREAMS_MAINNET"]);
    expect(serveFaults({ ...secret, ROLES: "ingest", UPSTREAMS_TESTNET: "a=http://a" })).toEqual([]);
  });

  test("streams and webhooks need the log of the chain: ingest in the same process, or one that processes share", () => {
    const nodes = { ...secret, UPSTREAMS_MAINNET: "a=http://a" };
    const shared = { LOG_URL: "nats://127.0.0.1:4222" };
    expect(serveFaults({ ...nodes, ROLES: "streams" })).toEqual(["LOG_URL"]);
    expect(serveFaults({ ...nodes, ROLES: "gateway,streams" })).toEqual(["LOG_URL"]);
    expect(serveFaults({ ...nodes, ROLES: "streams", ...shared })).toEqual([]);
    expect(serveFaults({ ...nodes, ROLES: "ingest,streams" })).toEqual([]);
    expect(serveFaults({ ...secret, ROLES: "streams", ...shared })).toEqual(["UPSTREAMS_MAINNET"]);
    expect(serveFaults({ ...nodes, ROLES: "gateway,webhooks" })).toEqual(["LOG_URL"]);
    expect(serveFaults({ ...nodes, ROLES: "webhooks", ...shared })).toEqual([]);
    expect(serveFaults({ ...nodes, ROLES: "ingest,webhooks" })).toEqual([]);
    expect(serveFaults({ ...secret, ROLES: "webhooks", ...shared })).toEqual(["UPSTREAMS_MAINNET"]);
    expect(faultsOf({ mode: "dev", env: { ROLES: "gateway,streams" } }).map(({ key }) => key)).toEqual(["LOG_URL"]);
    const stores = { DATABASE_URL: "postgres://a@b/c", CLICKHOUSE_URL: "http://c", REDIS_URL: "redis://d" };
    expect(serveFaults({ ...nodes, ...stores, ...shared, ROLES: "gateway,streams", WORKERS: "2" })).toEqual([
      "WORKERS",
    ]);
  });

  test("roles that would open no endpoint are told what they lack", () => {
    expect(serveFaults({ ...secret, ROLES: "engine" })).toEqual(["ENGINE_BUILDER"]);
    expect(serveFaults({ ...secret, ROLES: "oracle", ORACLE: "off" })).toEqual(["ORACLE"]);
    expect(serveFaults({ ...secret, ROLES: "oracle,engine", ORACLE: "off" })).toEqual(["ENGINE_BUILDER", "ORACLE"]);
    expect(serveFaults({ ...secret, ROLES: "oracle,engine" })).toEqual([]);
  });

  test("a cluster's name needs a cluster", () => {
    expect(faultsOf({ env: { CLICKHOUSE_CLUSTER: "c" } }).map(({ key }) => key)).toEqual(["CLICKHOUSE_URL"]);
    const several = { CLICKHOUSE_URL: "https://a,b:8443" };
    expect(faultsOf({ env: several }).map(({ key }) => key)).toEqual(["CLICKHOUSE_CLUSTER"]);
    expect(faultsOf({ env: { ...several, CLICKHOUSE_CLUSTER: "c" } })).toEqual([]);
  });

  test("no two endpoints share a port, and none lies past the last", () => {
    expect(faultsOf({ env: { METRICS_BIND: "127.0.0.1:8899" } })).toMatchObject([{ key: "METRICS_BIND" }]);
    expect(faultsOf({ env: { API_BIND: "127.0.0.1:60000", PORT_OFFSET: "6000" } })).toMatchObject([
      { key: "API_BIND" },
    ]);
    expect(faultsOf({ env: { PORT_OFFSET: "50000" } })).toEqual([]);
  });
});

describe("secrets", () => {
  const secret = fc.stringMatching(/^[a-z0-9]{12,24}$/).map((text) => `zq${text}`);

  test("none is ever shown, whether the configuration is right or wrong", () => {
    fc.assert(
      fc.property(secret, fc.constantFrom(...modes), fc.boolean(), (word, mode, broken) => {
        const scheme = broken ? "htp" : "http";
        const env = {
          MASTER_KEY: broken ? word : Buffer.from(word.padEnd(32, "0").slice(0, 32)).toString("hex"),
          DATABASE_URL: `${broken ? "my" : "postgres"}://user:${word}@db,db2:5433/${word}?password=${word}`,
          CLICKHOUSE_URL: `${scheme}://user:${word}@ch,ch2/${word}`,
          CLICKHOUSE_CLUSTER: "main",
          REDIS_URL: `redis+${broken ? "clusters" : "cluster"}://:${word}@one,two`,
          CHAIN_RPC_URL: `${scheme}://node/${word}`,
          UPSTREAMS_MAINNET: `a=${scheme}://${word}@n/${word}?api-key=${word};ws=wss://n/${word};header=X-Key: ${word}`,
          UPSTREAMS_DEVNET: `${word}=;${word}=${word}`,
          [`SLUICE_X`]: word,
        };
        const outcome = loadConfig({
          mode,
          env,
          tomlText: `[server]\nmaster_key = "${word}"\n`,
          flags: { masterKey: word },
        });
        const text = outcome.ok
          ? describeConfig(outcome.config, nothing)
          : formatFaults(outcome.faults) + JSON.stringify(outcome.faults);
        expect(text).not.toContain(word);
      }),
    );
  });

  test("a valid configuration is described without them, and with all that is not secret", () => {
    const config = load({
      env: {
        MASTER_KEY: masterKey,
        DATABASE_URL: "postgres://user:hunter2@db.example:5432/sluice?sslmode=require",
        REDIS_URL: "rediss+cluster://user:hunter2@one.example,two.example:7001?ca_file=/hunter2",
        UPSTREAMS_MAINNET: "a=https://n.example/hunter2?api-key=hunter2;groups=read+send;header=X-Key: hunter2",
      },
    });
    const name = "gateway";
    const opens = { name, url: "https://rpc.example/", listensAt: "http://127.0.0.1:8899/", protocol: "JSON-RPC" };
    const text = describeConfig(config, { endpoints: [opens], roles: ["gateway"] });
    expect(text).not.toContain("hunter2");
    expect(text).toContain("rediss+cluster://…@one.example,two.example:7001/…");
    expect(text).not.toContain(masterKey);
    for (const part of ["db.example:5432", "a=https://n.example", "groups=read+send", "x-key", "LOG_LEVEL", "8899"]) {
      expect(text).toContain(part);
    }
    expect(text).toContain("opens  gateway  http://127.0.0.1:8899/  (JSON-RPC, told as https://rpc.example/)");
    expect(text).toContain("nothing to do: resolver, oracle, engine, ingest");
  });
});

describe("any text", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("=", ";", ",", "a=http://[", "a=http://%", "[a]:1"),
  );
  const env = fc.dictionary(fc.constantFrom(...keyNames, "SLUICE_", "UPSTREAMS_", "__proto__"), text);
  const flags = fc.dictionary(fc.oneof(fc.constantFrom(...keyNames).map(flagName), fc.string()), text);
  const sources: Readonly<Record<string, fc.Arbitrary<Partial<ConfigInput>>>> = {
    "in the environment": fc.record({ env }),
    "in flags": fc.record({ flags }),
    "as a file": fc.record({ tomlText: text }),
    "in all of them": fc.record({ env, flags, tomlText: text }),
  };
  test.each(Object.entries(sources))("%s never throws", (_, source) => {
    fc.assert(
      fc.property(fc.constantFrom(...modes), source, (mode, input) => {
        const outcome = loadConfig({ mode, env: {}, ...input });
        if (outcome.ok) describeConfig(outcome.config, nothing);
        else expect(formatFaults(outcome.faults).length).toBeGreaterThan(10);
      }),
      { numRuns: 200 },
    );
  });

  test("a file with a key named like an object's own parts changes nothing else", () => {
    for (const key of ["__proto__", "constructor", "toString"]) {
      expect(faultsOf({ tomlText: `[${key}]\nbind = "x"\n` }).length).toBe(1);
    }
    expect(faultsOf({ tomlText: "[server.__proto__]\nbind = 'x'\n" }).length).toBe(1);
  });

  test("the value is frozen through and through", () => {
    const config = load({ env: { UPSTREAMS_DEVNET: "a=http://a;header=X-A: b" } });
    const check = (value: unknown): void => {
      if (typeof value !== "object" || value === null) return;
      expect(Object.isFrozen(value)).toBe(true);
      for (const part of Object.values(value)) check(part);
    };
    check(config);
  });
});

test("a lease lasts longer than a beat may take", () => {
  expect(faultsOf({ env: { LEASE_MS: "2000" } })).toMatchObject([{ key: "LEASE_MS", source: "rule", given: "2000" }]);
  expect(faultsOf({ env: { LEASE_MS: "2000", DATABASE_LOOKUP_TIMEOUT_MS: "1000" } })).toEqual([]);
});

test("serve has no market of its own", () => {
  const env = { MASTER_KEY: masterKey };
  expect(faultsOf({ mode: "serve", env: { ...env, ORACLE: "market" } }).map(({ key }) => key)).toEqual(["ORACLE"]);
  expect(load({ mode: "serve", env }).oracle.prices).toBe("live");
  expect(load({ mode: "dev" }).oracle.prices).toBe("market");
});
