import { expect, test } from "bun:test";
import { type Config, loadConfig, type Mode } from "../config/index.ts";
import {
  addressesOf,
  consoleUrl,
  describedServers,
  endpointsOf,
  engineRestUrl,
  engineUrl,
  gatewayPlace,
  oracleUrl,
} from "./endpoints.ts";

const node = "alpha=https://node-a.example";
const all = {
  ROLES: "all",
  MASTER_KEY: "0123456789abcdef".repeat(4),
  UPSTREAMS_MAINNET: node,
  UPSTREAMS_DEVNET: node,
  ENGINE_BUILDER: "2zW829aYk62MujHhVsbi9WtoZCUUtx1Y93Uzc43gjamf",
};

function configOf(env: Record<string, string>, mode: Mode = "serve"): Config {
  const outcome = loadConfig({ mode, env: { ...all, ...env } });
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.faults));
  return outcome.config;
}

const shown = (env: Record<string, string>, mode?: Mode) => addressesOf(endpointsOf(configOf(env, mode)));

test("without an operator's word an endpoint is told where a person on the machine can open it", () => {
  expect(shown({})).toEqual({
    rpc: "http://127.0.0.1:8899/rpc",
    resolver: "http://127.0.0.1:8691",
    oracle: "http://127.0.0.1:7450",
    engineRest: "http://127.0.0.1:7435",
    engineGrpc: "http://127.0.0.1:7440",
    pubsub: "ws://127.0.0.1:8900",
    ws: "ws://127.0.0.1:8899/ws",
    metrics: "http://127.0.0.1:9464/metrics",
    yellowstone: "http://127.0.0.1:10000",
  });
  expect(shown({ BIND: "2001:db8::1" })["oracle"]).toBe("http://[2001:db8::1]:7450");
  const config = configOf({});
  expect(gatewayPlace(config)).toEqual({ port: 8899, url: null });
  expect(describedServers(config)).toEqual({ gateway: null, engine: null, oracle: null, resolver: null });
});

test("each endpoint is told by the operator's word for it, everywhere", () => {
  const env = {
    PUBLIC_URL: "https://rpc.example",
    PUBLIC_URL_PUBSUB: "wss://stream.example",
    PUBLIC_URL_ORACLE: "https://prices.example",
    PUBLIC_URL_RESOLVER: "https://names.example",
    PUBLIC_URL_YELLOWSTONE: "https://geyser.example",
    PUBLIC_URL_ENGINE: "https://bundles.example",
    PUBLIC_URL_ENGINE_GRPC: "http://engine.example:7440",
  };
  const config = configOf(env);
  expect(shown(env)).toEqual({
    rpc: "https://rpc.example/rpc",
    yellowstone: "https://geyser.example",
    resolver: "https://names.example",
    oracle: "https://prices.example",
    engineRest: "https://bundles.example",
    engineGrpc: "http://engine.example:7440",
    pubsub: "wss://stream.example",
    ws: "wss://rpc.example/ws",
    metrics: "http://127.0.0.1:9464/metrics",
  });
  const urls = [consoleUrl(config), oracleUrl(config), engineRestUrl(config), engineUrl(config)];
  const expected = ["https://rpc.example/", "https://prices.example", "https://bundles.example"];
  expect(urls).toEqual([...expected, "http://engine.example:7440"]);
  expect(gatewayPlace(config)).toEqual({ port: 8899, url: "https://rpc.example" });
  expect(endpointsOf(config).map(({ listensAt }) => new URL(listensAt).hostname)).toEqual(Array(9).fill("127.0.0.1"));
});

test("with PUBLIC_URL alone the others are told at its host with their own ports, where they listen for all", () => {
  const env = { PUBLIC_URL: "https://rpc.example:8443", API_BIND: "127.0.0.1:8691", METRICS_BIND: "0.0.0.0:9464" };
  expect(shown(env)).toEqual({
    rpc: "https://rpc.example:8443/rpc",
    yellowstone: "http://rpc.example:10000",
    resolver: "http://127.0.0.1:8691",
    oracle: "http://rpc.example:7450",
    engineRest: "http://rpc.example:7435",
    engineGrpc: "http://rpc.example:7440",
    pubsub: "wss://rpc.example:8443",
    ws: "wss://rpc.example:8443/ws",
    metrics: "http://127.0.0.1:9464/metrics",
  });
  expect(shown({ PUBLIC_URL: "http://[2001:db8::5]" })["oracle"]).toBe("http://[2001:db8::5]:7450");
  expect(describedServers(configOf(env))).toEqual({
    gateway: "https://rpc.example:8443",
    engine: "http://rpc.example:7435",
    oracle: "http://rpc.example:7450",
    resolver: null,
  });
});

test("an endpoint that another process opens is described by the operator's word alone", () => {
  const env = { ROLES: "gateway", PUBLIC_URL: "https://rpc.example", PUBLIC_URL_ORACLE: "https://prices.example" };
  expect(describedServers(configOf(env))).toEqual({
    gateway: "https://rpc.example",
    engine: null,
    oracle: "https://prices.example",
    resolver: null,
  });
  expect(Object.keys(shown(env))).toEqual(["rpc", "pubsub", "metrics"]);
});

test("a word for gRPC stands for the port of its scheme, and the other one is the operator's", () => {
  const grpc = (env: Record<string, string>, mode: Mode) =>
    endpointsOf(configOf(env, mode))
      .filter(({ name }) => name.startsWith("engineGrpc"))
      .map(({ name, url, forOperators = false }) => [name, url, forOperators]);
  const secured = { PUBLIC_URL_ENGINE_GRPC: "https://engine.example:7441" };
  const own = { TLS_CERT_FILE: "/tls/a.pem", TLS_KEY_FILE: "/tls/a.key" };
  const named = ["engineGrpcTls", "https://engine.example:7441", false];
  expect(grpc(secured, "serve")).toEqual([["engineGrpc", "http://127.0.0.1:7440", true], named]);
  expect(grpc({ ...secured, ...own }, "serve")).toEqual([["engineGrpc", "http://127.0.0.1:7440", true], named]);
  expect(grpc({ ...own, PUBLIC_URL_ENGINE_GRPC: "http://engine.example" }, "serve")).toEqual([
    ["engineGrpcTls", "https://127.0.0.1:7441", true],
    ["engineGrpc", "http://engine.example", false],
  ]);
  const listens = endpointsOf(configOf(secured)).find(({ name }) => name === "engineGrpcTls")?.listensAt;
  expect(listens).toBe("http://127.0.0.1:7440");
  expect(engineUrl(configOf({ ...secured, ENGINE_URL: "http://10.0.0.5:7440" }))).toBe("http://10.0.0.5:7440");
  // The validator of a development chain is on this machine.
  expect(engineUrl(configOf(secured, "dev"))).toBe("http://127.0.0.1:7440");
});
