import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { YAML } from "bun";
import { formatFaults, loadConfig } from "../../server/src/config/index.ts";
import { findTool, runTool, scratch } from "./tools.ts";

/** The files of deploy/ beside the generated ones: their structure, and what the programs that read them say. */

const root = join(import.meta.dir, "../..");
const deploy = join(root, "deploy");
const read = (path: string): string => readFileSync(join(deploy, path), "utf8");

/** What the reference of the configuration says. */
const reference = readFileSync(join(root, "docs/reference/configuration.md"), "utf8");
const keys = new Set([...reference.matchAll(/^### (\w+)$/gm)].map(([, name = ""]) => name));
const roles = /or some of ([a-z, ]+) separated by commas/.exec(reference)?.[1]?.split(", ") ?? [];

/** The default ports of the endpoints that a container opens. */
const portNames: Readonly<Record<string, number>> = {
  rpc: 8899,
  pubsub: 8900,
  yellowstone: 10_000,
  bundles: 7435,
  grpc: 7440,
  prices: 7450,
  names: 8691,
  metrics: 9464,
};

/** Members of parsed YAML; undefined for what is not there. */
function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, name) : undefined),
    value,
  );
}
const listAt = (value: unknown, ...path: readonly (string | number)[]): readonly unknown[] => {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
};
const textAt = (value: unknown, ...path: readonly (string | number)[]): string => String(at(value, ...path));

const isSetting = (name: string): boolean => name === "HOME" || keys.has(name);

/** The faults of a configuration that `sluice serve` would start with. */
function faultsOf(settings: Readonly<Record<string, string>>): string {
  const outcome = loadConfig({ mode: "serve", env: settings });
  return outcome.ok ? "" : formatFaults(outcome.faults);
}

/** What an operator fills in, by the names of the files. */
const filledIn: Readonly<Record<string, string>> = {
  MASTER_KEY: "ab".repeat(32),
  POSTGRES_PASSWORD: "one",
  CLICKHOUSE_PASSWORD: "two",
  UPSTREAMS_MAINNET: "alpha=https://node-a.example;ws=wss://node-a.example",
  CHAIN_RPC_URL: "https://node-a.example",
  ENGINE_BUILDER: "2zW829aYk62MujHhVsbi9WtoZCUUtx1Y93Uzc43gjamf",
};

test("the reference tells which settings and roles there are", () => {
  expect(keys.size).toBeGreaterThan(40);
  expect(roles).toContain("gateway");
});

describe("kubernetes", () => {
  const files = readdirSync(join(deploy, "kubernetes"))
    .filter((name) => name.endsWith(".yaml"))
    .toSorted();
  const documents = files
    .filter((name) => name !== "kustomization.yaml")
    .flatMap((name) => [YAML.parse(read(`kubernetes/${name}`))].flat());
  const ofKind = (kind: string): unknown[] => documents.filter((each) => at(each, "kind") === kind);
  const workloads = [...ofKind("StatefulSet"), ...ofKind("Deployment")];
  const containerOf = (workload: unknown): unknown => at(workload, "spec", "template", "spec", "containers", 0);
  const ours = workloads.filter((each) => at(containerOf(each), "image") === "sluice");
  const labelsOf = (workload: unknown): string =>
    JSON.stringify(at(workload, "spec", "template", "metadata", "labels"));

  test("the kustomization names each file, and the pods of each role", () => {
    const named = listAt(YAML.parse(read("kubernetes/kustomization.yaml")), "resources");
    expect([...named, "kustomization.yaml"].toSorted()).toEqual(files);
    expect(ours.map((each) => textAt(containerOf(each), "env", 0, "value")).toSorted()).toEqual(roles.toSorted());
    expect(new Set(documents.map((each) => `${textAt(each, "kind")} ${textAt(each, "metadata", "name")}`)).size).toBe(
      documents.length,
    );
  });

  test("a workload selects its own pods, and so does a disruption budget for each of them", () => {
    const budgets = ofKind("PodDisruptionBudget").map((each) => JSON.stringify(at(each, "spec", "selector")));
    for (const workload of workloads) {
      expect(JSON.stringify(at(workload, "spec", "selector", "matchLabels"))).toBe(labelsOf(workload));
      expect(budgets).toContain(JSON.stringify(at(workload, "spec", "selector")));
    }
    expect(budgets.length).toBe(workloads.length);
  });

  test("ports are those of the endpoints, and probes and services ask for ports that there are", () => {
    for (const workload of workloads) {
      const container = containerOf(workload);
      const ports = new Set<string>();
      for (const port of listAt(container, "ports")) {
        ports.add(textAt(port, "name"));
        expect([textAt(port, "name"), at(port, "containerPort")]).toEqual([
          textAt(port, "name"),
          portNames[textAt(port, "name")],
        ]);
      }
      const probes = ["startupProbe", "livenessProbe", "readinessProbe"].flatMap((name) => {
        const probe = at(container, name);
        return probe === undefined ? [] : [at(probe, "httpGet", "port") ?? at(probe, "tcpSocket", "port")];
      });
      expect(probes.length).toBe(at(container, "image") === "sluice" ? 3 : 1);
      expect(probes.filter((port) => !ports.has(String(port)))).toEqual([]);
      const services = ofKind("Service").filter(
        (each) => JSON.stringify(at(each, "spec", "selector")) === labelsOf(workload),
      );
      expect(services.length).toBeGreaterThan(0);
      const asked = services.flatMap((each) => listAt(each, "spec", "ports").map((port) => textAt(port, "targetPort")));
      expect(asked.filter((port) => !ports.has(port))).toEqual([]);
    }
  });

  test("each workload has the settings that its role starts with", () => {
    const lines = read("kubernetes/example.env").matchAll(/^(\w+)=(.*)$/gm);
    const secrets = Object.fromEntries([...lines].map(([, name = "", value = ""]) => [name, filledIn[name] ?? value]));
    const [settings] = ofKind("ConfigMap");
    for (const workload of ours) {
      const container = containerOf(workload);
      const own = listAt(container, "env").map((each) => [textAt(each, "name"), textAt(each, "value")]);
      const shared = listAt(container, "envFrom").length > 0 ? { ...secrets, ...Object(at(settings, "data")) } : {};
      const role = textAt(workload, "metadata", "name");
      expect([role, faultsOf({ ...shared, ...Object.fromEntries(own) })]).toEqual([role, ""]);
    }
  });

  test("settings are settings, and Kubernetes adds none", () => {
    for (const workload of ours) {
      for (const variable of listAt(containerOf(workload), "env")) expect(keys).toContain(textAt(variable, "name"));
      expect(at(workload, "spec", "template", "spec", "enableServiceLinks")).toBe(false);
    }
    const [settings] = ofKind("ConfigMap");
    expect(Object.keys(Object(at(settings, "data"))).filter((name) => !isSetting(name))).toEqual([]);
    const secrets = [...read("kubernetes/example.env").matchAll(/^(\w+)=/gm)].map(([, name = ""]) => name);
    expect(secrets.filter((name) => !isSetting(name))).toEqual([]);
    const grace = ours.map((each) => Number(at(each, "spec", "template", "spec", "terminationGracePeriodSeconds")));
    const drain = ["DRAIN_DELAY_MS", "DRAIN_MS"].map((name) => Number(at(settings, "data", name)));
    expect(Math.min(...grace) * 1_000).toBeGreaterThan(drain.reduce((sum, each) => sum + each, 10_000));
  });
});

describe("compose", () => {
  const file = YAML.parse(read("compose/compose.yaml"));
  const services = Object.entries(Object(at(file, "services")));
  const ours = services.filter(([, each]) => textAt(each, "image").includes("SLUICE_IMAGE"));

  test("there is a service for each role, with settings that there are and a directory of its own", () => {
    expect(new Set(ours.map(([, each]) => textAt(each, "environment", "ROLES")))).toEqual(new Set(roles));
    for (const [, each] of ours) {
      expect(Object.keys(Object(at(each, "environment"))).filter((name) => !isSetting(name))).toEqual([]);
    }
    const directories = ours.flatMap(([, each]) => listAt(each, "volumes"));
    expect(new Set(directories).size).toBe(directories.length);
  });

  test("each service has the settings that its role starts with", () => {
    for (const [name, each] of ours) {
      const environment = Object.entries(Object(at(each, "environment"))).map(([key, value]): [string, string] => {
        const text = String(value).replaceAll(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, variable, kind, rest) => {
          const given = filledIn[variable];
          if (given === undefined && kind !== "-") throw new Error(`${variable} is not filled in`);
          return given ?? rest;
        });
        return [key, text];
      });
      expect([name, faultsOf(Object.fromEntries(environment))]).toEqual([name, ""]);
    }
  });

  test("what a service names is declared, and ports are published once", () => {
    const volumes = new Set(Object.keys(Object(at(file, "volumes"))));
    const used = services.flatMap(([, each]) =>
      listAt(each, "volumes").flatMap((volume) => /^([\w-]+):/.exec(String(volume))?.[1] ?? []),
    );
    expect(used.toSorted()).toEqual([...volumes].toSorted());
    const names = new Set(services.map(([name]) => name));
    const needed = services.flatMap(([, each]) => Object.keys(Object(at(each, "depends_on"))));
    expect(needed.filter((name) => !names.has(name))).toEqual([]);
    const published = services.flatMap(([, each]) =>
      listAt(each, "ports").map((port) => /(\d+):\d+$/.exec(String(port))?.[1] ?? port),
    );
    expect(new Set(published).size).toBe(published.length);
  });

  test("commands are lists of words", () => {
    const commands = services.flatMap(([, each]) => [listAt(each, "healthcheck", "test"), listAt(each, "command")]);
    expect(commands.flat().filter((word) => typeof word !== "string")).toEqual([]);
    for (const [name, each] of services.filter(([, each]) => at(each, "build") !== undefined)) {
      expect([name, listAt(each, "healthcheck", "test").length]).toEqual([name, 4]);
    }
  });

  test("each variable that has no default is in example.env, and no other", () => {
    const text = read("compose/compose.yaml");
    const variables = new Set([...text.matchAll(/\$\{(\w+)(?::\?|:-\})/g)].map(([, name = ""]) => name));
    const given = [...read("compose/example.env").matchAll(/^(\w+)=/gm)].map(([, name = ""]) => name);
    expect(given.toSorted()).toEqual([...variables].toSorted());
  });
});

test("the image opens the ports of the endpoints, and sets settings that there are", () => {
  const text = read("container/Containerfile");
  const exposed = /^EXPOSE (.*)$/m.exec(text)?.[1]?.split(" ").map(Number) ?? [];
  expect(exposed.toSorted()).toEqual([...Object.values(portNames), 7441].toSorted());
  const variables = [...text.replaceAll("\\\n", " ").matchAll(/^ENV (.*)$/gm)].flatMap(([, list = ""]) =>
    list
      .trim()
      .split(/ +/)
      .map((each) => each.split("=")[0] ?? ""),
  );
  expect(variables.length).toBe(3);
  expect(variables.filter((name) => !isSetting(name))).toEqual([]);
});

const units = ["sluice.service", "sluice@.service"];
const systemd = findTool("systemd-analyze", "units of systemd");

test.skipIf(systemd === null)("systemd takes the units, and refuses one with a mistake", () => {
  const verify = (change: (text: string) => string) => {
    // The program is elsewhere in this tree, and the unit with a role needs one to be read.
    const files = units.map((name) => [
      name.replace("@", "@gateway"),
      change(read(`systemd/${name}`).replaceAll("/opt/sluice/", `${root}/`)),
    ]);
    using directory = scratch(Object.fromEntries(files));
    const { ok, said } = runTool([systemd ?? "", "verify", ...files.map(([name = ""]) => directory.path(name))]);
    return ok ? said : `failed: ${said}`;
  };
  // Where systemd is not running, the tool says that and goes on.
  const complaints = (said: string) =>
    said.split("\n").filter((line) => /sluice\S*\.service/.test(line) || line.startsWith("failed"));
  expect(complaints(verify((text) => text))).toEqual([]);
  expect(complaints(verify((text) => text.replaceAll("KillMode=mixed", "KillMode=mixt"))).length).toBeGreaterThan(0);
});

test("units set settings that there are", () => {
  for (const unit of units) {
    const variables = [...read(`systemd/${unit}`).matchAll(/^Environment=(.*)$/gm)].flatMap(([, list = ""]) =>
      list.split(" ").map((each) => each.split("=")[0] ?? ""),
    );
    expect(variables.length).toBeGreaterThan(2);
    expect(variables.filter((name) => !isSetting(name))).toEqual([]);
  }
});

/** A program that checks a configuration, the files that it checks, and a mistake that it must find. */
interface Check {
  readonly tool: string;
  readonly files: readonly string[];
  readonly command: (tool: string, path: string) => readonly string[];
  readonly mistake: readonly [string, string];
}

const checks: readonly Check[] = [
  {
    tool: "nginx",
    files: ["proxies/nginx.conf"],
    command: (tool, path) => [tool, "-t", "-q", "-c", path, "-g", "pid /dev/null; error_log stderr;"],
    mistake: ["least_conn;", "least_con;"],
  },
  {
    tool: "caddy",
    files: ["proxies/Caddyfile"],
    command: (tool, path) => [tool, "adapt", "--validate", "--adapter", "caddyfile", "--config", path],
    mistake: ["health_uri /ready", "health_url /ready"],
  },
  {
    tool: "haproxy",
    files: ["proxies/haproxy.cfg", "compose/haproxy.cfg", "kubernetes/haproxy.cfg"],
    command: (tool, path) => [tool, "-c", "-q", "-f", path],
    mistake: ["option forwardfor", "option forwardfrom"],
  },
  {
    tool: "promtool",
    files: ["compose/prometheus.yaml"],
    command: (tool, path) => [tool, "check", "config", path],
    mistake: ["scrape_configs", "scrape_config"],
  },
  {
    tool: "nats-server",
    files: ["compose/nats.conf"],
    command: (tool, path) => [tool, "-t", "-c", path],
    mistake: ["store_dir:", "store_directory:"],
  },
];

/** Files with a certificate of this test, and with its paths in place of those of an installation. */
function installed(text: string): Disposable & { readonly path: string } {
  const directory = scratch({ "alerts.yaml": read("prometheus/alerts.yaml"), ...testCertificate() });
  const local = text
    .replaceAll("/etc/nginx/tls/fullchain.pem", directory.path("certificate.pem"))
    .replaceAll("/etc/nginx/tls/privkey.pem", directory.path("key.pem"))
    .replaceAll("/etc/haproxy/engine.pem", directory.path("both.pem"))
    // The server that a host has may be older than 2.10, which does not know it.
    .replaceAll("sync_interval: always", "")
    .replaceAll("[alerts.yaml]", `[${directory.path("alerts.yaml")}]`);
  const path = directory.path("configuration");
  writeFileSync(path, local);
  return { path, [Symbol.dispose]: () => directory[Symbol.dispose]() };
}

function testCertificate(): Record<string, string> {
  using made = scratch({});
  const [key, certificate] = [made.path("key.pem"), made.path("certificate.pem")];
  const terms = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=a"];
  runTool(["openssl", "req", "-x509", ...terms, "-keyout", key, "-out", certificate]);
  const [keyText, certificateText] = [readFileSync(key, "utf8"), readFileSync(certificate, "utf8")];
  return { "key.pem": keyText, "certificate.pem": certificateText, "both.pem": certificateText + keyText };
}

const openssl = findTool("openssl", "files of proxies, which name a certificate");

for (const { tool: name, files, command, mistake } of checks) {
  const tool = findTool(name, files.map((file) => `deploy/${file}`).join(", "));
  test.skipIf(tool === null || openssl === null)(`${name} takes its files, and refuses a mistake`, () => {
    for (const file of files) {
      using right = installed(read(file));
      const { ok, said } = runTool(command(tool ?? "", right.path));
      expect([file, ok ? "" : said]).toEqual([file, ""]);
      using wrong = installed(read(file).replaceAll(...mistake));
      expect([file, runTool(command(tool ?? "", wrong.path)).ok]).toEqual([file, false]);
    }
  });
}
