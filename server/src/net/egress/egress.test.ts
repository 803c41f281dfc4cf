import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@sluice/lib";
import { newAuthority } from "../tls/testing/private-authority.ts";
import { createAddressRules } from "./address-rules.ts";
import { EgressEndpoint, type EgressOutcome } from "./egress-endpoint.ts";
import { readEgressUrl } from "./egress-url.ts";
import type { NameResolver } from "./name-resolver.ts";
import { admittedAddresses, malformedUrls, refusedAddresses, refusedUrls } from "./testing/vectors.ts";

interface Setting {
  readonly allowedRanges?: readonly string[];
  readonly resolver?: NameResolver;
  readonly authorities?: readonly string[];
  readonly timeoutMs?: number;
}

const nobody: NameResolver = {
  addressesOf: (hostname) => {
    throw new Error(`nobody looks up ${hostname}`);
  },
};
const names = (addresses: readonly string[]): NameResolver => ({ addressesOf: async () => addresses });

function endpointOf(url: string, setting: Setting = {}): EgressEndpoint {
  const read = readEgressUrl(url, { allowHttp: true });
  if (!read.ok) throw new Error(`${url} is refused: ${read.fault}`);
  const { allowedRanges = [], resolver = nobody, authorities } = setting;
  return new EgressEndpoint(
    {
      url: read.url,
      connectionsMax: 4,
      answerBytesMax: 16,
      ...(authorities === undefined ? {} : { authorities }),
    },
    { clock: systemClock, rules: createAddressRules(allowedRanges), resolver },
  );
}

async function post(url: string, setting: Setting = {}): Promise<EgressOutcome> {
  using endpoint = endpointOf(url, setting);
  return await endpoint.post({ fields: [["X-A", "b"]], body: "{}", timeoutMs: setting.timeoutMs ?? 3_000 });
}

const local = ["127.0.0.0/8"];
const textOf = (outcome: EgressOutcome): string =>
  outcome.kind === "answered" ? Buffer.from(outcome.bytes).toString() : outcome.kind;

describe("addresses and URLs that are refused", () => {
  test("the table has at least 200 vectors, none of them twice", () => {
    const all = [...refusedUrls, ...malformedUrls.map(([url]) => url), ...refusedAddresses];
    expect(new Set(all).size).toBe(all.length);
    expect(all.length).toBeGreaterThanOrEqual(200);
  });

  for (const url of refusedUrls) {
    test(`${url} reaches nothing`, async () => {
      const read = readEgressUrl(url, { allowHttp: false });
      if (!read.ok) {
        expect(["host", "malformed"]).toContain(read.fault);
        return;
      }
      // First, so that a rule that is missing calls nobody from here.
      expect([read.url.isAddress, createAddressRules([]).admit(read.url.hostname)]).toEqual([true, null]);
      expect(await post(url)).toEqual({ kind: "refused" });
    });
  }

  for (const [url, fault] of malformedUrls) {
    test(`${JSON.stringify(url.slice(0, 60))} is no URL that is called: ${fault}`, () => {
      expect(readEgressUrl(url, { allowHttp: false })).toEqual({ ok: false, fault: fault as "scheme" });
    });
  }

  for (const address of refusedAddresses) {
    test(`a name at ${JSON.stringify(address)} reaches nothing`, async () => {
      expect(createAddressRules([]).admit(address)).toBeNull();
      expect(await post("https://hooks.example/", { resolver: names([address]) })).toEqual({ kind: "refused" });
    });
  }

  for (const [address, form] of admittedAddresses) {
    test(`${address} is connected to as ${form}`, () => expect(createAddressRules([]).admit(address)).toBe(form));
  }

  test("links, groups, this host and the metadata of clouds are refused whatever is allowed", () => {
    const rules = createAddressRules(["0.0.0.0/0", "::/0"]);
    const never = ["169.254.169.254", "169.254.1.1", "100.100.100.200", "168.63.129.16", "192.0.0.192", "0.0.0.0"];
    const never6 = ["::ffff:169.254.169.254", "fd00:ec2::254", "fd20:ce::254", "fe80::1", "ff02::1", "::"];
    const led = [
      "64:ff9b::a9fe:a9fe",
      "64:ff9b:1::a9fe:a9fe",
      "2002:a9fe:a9fe::1",
      "::a9fe:a9fe",
      "::ffff:0:a9fe:a9fe",
    ];
    const tunnelled = ["2001::5601:5601", "2001:db8::5efe:a9fe:a9fe", "64:ff9b::a83f:8110"];
    const others = ["224.0.0.1", "255.255.255.255", "127.1", "::1%lo"];
    for (const address of [...never, ...never6, ...led, ...tunnelled, ...others]) {
      expect([address, rules.admit(address)]).toEqual([address, null]);
    }
    const usable = [
      "127.0.0.1",
      "10.0.0.1",
      "::1",
      "fd00::1",
      "64:ff9b::a00:1",
      "2002:a00:1::1",
      "2600:1f18::a9fe:a9fe",
    ];
    for (const address of usable) expect(rules.admit(address)).toBe(address);
  });
});

describe("connections", () => {
  let reached = 0;
  let answer = (_request: Request): Response => new Response("hello");
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      reached += 1;
      return answer(request);
    },
  });
  const { port } = server;
  afterAll(() => server.stop(true));

  test("a listener on this host is reached by none of the forms of its address", async () => {
    reached = 0;
    const forms = [
      "127.0.0.1",
      "127.1",
      "2130706433",
      "0x7f.1",
      "0177.1",
      "0",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
    ];
    for (const form of forms) expect(await post(`http://${form}:${port}/`)).toEqual({ kind: "refused" });
    for (const address of ["127.0.0.1", "::ffff:127.0.0.1", "0.0.0.0"]) {
      const resolver = names([address]);
      expect(await post(`http://hooks.example:${port}/`, { resolver })).toEqual({ kind: "refused" });
    }
    expect(reached).toBe(0);
    expect(textOf(await post(`http://127.0.0.1:${port}/`, { allowedRanges: local }))).toBe("hello");
    expect(reached).toBe(1);
  });

  test("the address that was checked is the one that is connected to, though the name says another one at once", async () => {
    reached = 0;
    const said = [["127.0.0.1"], ["10.0.0.1"], ["169.254.169.254"]];
    let asked = 0;
    const resolver: NameResolver = { addressesOf: async () => said[Math.min(asked++, said.length - 1)] ?? [] };
    using endpoint = endpointOf(`http://rebinding.example:${port}/`, { allowedRanges: local, resolver });
    const outcome = await endpoint.post({ fields: [], body: "", timeoutMs: 3_000 });
    expect([outcome.kind, asked, reached]).toEqual(["answered", 1, 1]);
    // The reverse: public when the webhook was made, private by the time of a later connection.
    const later: NameResolver = { addressesOf: async () => ["127.0.0.1"] };
    expect(await post(`http://rebinding.example:${port}/`, { resolver: later })).toEqual({ kind: "refused" });
    expect(reached).toBe(1);
  });

  test("of several addresses of a name those that are allowed are used, and no other", async () => {
    reached = 0;
    const resolver = names(["10.0.0.1", "::1", "127.0.0.1", "192.168.0.1"]);
    for (let times = 0; times < 8; times += 1) {
      expect(textOf(await post(`http://hooks.example:${port}/`, { allowedRanges: local, resolver }))).toBe("hello");
    }
    expect(reached).toBe(8);
  });

  test("a call goes to the next address of a name where no connection can be had, within the same call", async () => {
    reached = 0;
    const lost = ["127.0.0.2", "127.0.0.3"];
    const resolver = names([...lost, "10.0.0.1", "127.0.0.1"]);
    for (let times = 0; times < 6; times += 1) {
      expect(textOf(await post(`http://hooks.example:${port}/`, { allowedRanges: local, resolver }))).toBe("hello");
    }
    expect(reached).toBe(6);
    expect(await post(`http://hooks.example:${port}/`, { allowedRanges: local, resolver: names(lost) })).toEqual({
      kind: "unreachable",
    });
    // What has been sent is not sent again, wherever it has been lost.
    let taken = 0;
    const closing = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data: (socket) => {
          taken += 1;
          socket.end();
        },
      },
    });
    const place = `http://hooks.example:${closing.port}/`;
    expect(await post(place, { allowedRanges: local, resolver: names(["127.0.0.1", "127.0.0.1"]) })).toEqual({
      kind: "closed",
    });
    closing.stop(true);
    expect(taken).toBe(1);
  });

  test("a redirect is an answer that is not followed, wherever it leads", async () => {
    reached = 0;
    const aims = ["http://169.254.169.254/", `http://127.0.0.1:${port}/again`, "//10.0.0.1/", "/again", "file:///etc"];
    for (const [at, status] of [301, 302, 303, 307, 308].entries()) {
      const location = aims[at] ?? "";
      answer = () => new Response(null, { status, headers: { location } });
      expect(await post(`http://127.0.0.1:${port}/`, { allowedRanges: local })).toMatchObject({ status });
    }
    answer = () => new Response("hello");
    expect(reached).toBe(5);
  });

  test("a read has no body, and tells where a redirect leads without going there", async () => {
    const seen: string[] = [];
    answer = (request) => {
      seen.push(`${request.method} ${new URL(request.url).pathname}${new URL(request.url).search}`);
      return new Response(null, { status: 302, headers: { location: "https://elsewhere.example/a?b" } });
    };
    using endpoint = endpointOf(`http://127.0.0.1:${port}/x?y`, { allowedRanges: local });
    const outcome = await endpoint.get({ fields: [["accept", "application/json"]], timeoutMs: 3_000 });
    expect(outcome).toMatchObject({ status: 302, location: "https://elsewhere.example/a?b" });
    answer = () => new Response("hello", { headers: { location: "/not-told" } });
    expect(await endpoint.get({ fields: [], timeoutMs: 3_000 })).toMatchObject({ status: 200, location: null });
    expect(seen).toEqual(["GET /x?y"]);
  });

  test("a call has the fields that it is given and its own, and no answer is kept beyond its bound", async () => {
    let seen = "";
    answer = (request) => {
      const { headers } = request;
      seen = `${headers.get("host")} ${headers.get("x-a")} ${headers.get("accept-encoding")} ${request.method}`;
      return new Response("a".repeat(200_000), { status: 503, headers: { "retry-after": "7" } });
    };
    const outcome = await post(`http://hooks.example:${port}/x?y`, {
      allowedRanges: local,
      resolver: names(["127.0.0.1"]),
    });
    answer = () => new Response("hello");
    expect(seen).toBe(`hooks.example:${port} b identity POST`);
    expect(outcome).toMatchObject({ kind: "answered", status: 503, retryAfter: "7", isCut: true });
    expect(textOf(outcome)).toBe("a".repeat(16));
  });

  test("a connection is used again, and its deadline covers an answer that trickles", async () => {
    using endpoint = endpointOf(`http://127.0.0.1:${port}/`, { allowedRanges: local });
    for (let times = 0; times < 5; times += 1) await endpoint.post({ fields: [], body: "{}", timeoutMs: 3_000 });
    expect(endpoint.connections).toBe(1);
    const listener = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data: (socket) => void socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\na"),
      },
    });
    const trickle = await post(`http://127.0.0.1:${listener.port}/`, { allowedRanges: local, timeoutMs: 200 });
    listener.stop(true);
    expect(trickle).toEqual({ kind: "timeout" });
  });

  test("a name that is not found, or is looked up for too long, is no success", async () => {
    expect(await post("https://hooks.example/", { resolver: names([]) })).toEqual({ kind: "unreachable" });
    const silent: NameResolver = { addressesOf: () => new Promise(() => undefined) };
    expect(await post("https://hooks.example/", { resolver: silent, timeoutMs: 100 })).toEqual({ kind: "timeout" });
  });
});

describe("certificates", () => {
  const directory = mkdtempSync(join(tmpdir(), "sluice-egress-"));
  let authority = "";
  let listener: Bun.TCPSocketListener | null = null;
  beforeAll(async () => {
    const made = await newAuthority(directory);
    authority = readFileSync(made.caFile, "utf8");
    const { certificate: cert, key } = await made.server("hooks", ["hooks.example"]);
    listener = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      tls: { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") },
      socket: { data: (socket) => void socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok") },
    });
  });
  afterAll(() => {
    listener?.stop(true);
    rmSync(directory, { recursive: true });
  });

  test("a certificate has to be of the URL's name, of a known authority, and not of the address", async () => {
    const { port } = listener ?? { port: 0 };
    const setting = { allowedRanges: local, resolver: names(["127.0.0.1"]), authorities: [authority] };
    expect(textOf(await post(`https://hooks.example:${port}/`, setting))).toBe("ok");
    expect(textOf(await post(`https://hooks.example.:${port}/`, setting))).toBe("ok");
    expect(await post(`https://other.example:${port}/`, setting)).toEqual({ kind: "unreachable" });
    expect(await post(`https://127.0.0.1:${port}/`, setting)).toEqual({ kind: "unreachable" });
    const { authorities: _, ...unknown } = setting;
    expect(await post(`https://hooks.example:${port}/`, unknown)).toEqual({ kind: "unreachable" });
  });

  test("an address that takes a connection and says nothing leaves time for the next one, and comes last from then on", async () => {
    const { port } = listener ?? { port: 0 };
    let silent = 0;
    const quiet = Bun.listen({
      hostname: "127.0.0.2",
      port,
      socket: {
        open: () => {
          silent += 1;
        },
        data: () => undefined,
      },
    });
    const resolver = names(["127.0.0.2", "127.0.0.1"]);
    using endpoint = endpointOf(`https://hooks.example:${port}/`, {
      allowedRanges: local,
      resolver,
      authorities: [authority],
    });
    const call = { fields: [], body: "{}", timeoutMs: 5_000 };
    const outcomes = [await endpoint.post(call)];
    // Each of these needs a connection of its own.
    outcomes.push(...(await Promise.all([endpoint.post(call), endpoint.post(call), endpoint.post(call)])));
    quiet.stop(true);
    expect(outcomes.map(textOf)).toEqual(["ok", "ok", "ok", "ok"]);
    expect(silent).toBe(1);
  }, 30_000);
});
