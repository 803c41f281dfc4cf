import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { ManualClock, systemClock } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import type { NameResolver } from "../../net/index.ts";
import { TextCache } from "../text-cache.ts";
import { DocumentFetch, type FetchedDocument } from "./document-fetch.ts";
import { Documents } from "./documents.ts";
import { locate } from "./location.ts";

const asked: string[] = [];
let respond: (request: Request) => Response | Promise<Response>;
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: (request) => {
    asked.push(new URL(request.url).pathname);
    return respond(request);
  },
});
afterAll(() => server.stop(true));
beforeEach(() => {
  asked.length = 0;
  respond = () => Response.json({ description: "hello" });
});

const origin = `http://127.0.0.1:${server.port}`;
const key = "key";
const nobody: NameResolver = { addressesOf: async () => [] };

describe("a fetch", () => {
  const fetched = async (uri: string, changes: { ranges?: readonly string[]; timeoutMs?: number } = {}) => {
    const { ranges = ["127.0.0.0/8"], timeoutMs = 3_000 } = changes;
    const location = locate(uri, { ipfsGateway: `${origin}/ipfs`, arweaveGateway: origin, allowHttp: true });
    if (location === null) throw new TypeError("a test names no place");
    const options = { allowHttp: true, allowPrivateCidrs: ranges, timeoutMs };
    const read = await new DocumentFetch(options, { clock: systemClock, resolver: nobody }).fetch(location);
    return read.ok ? read.document.description : read.fault;
  };

  test("reads a document, and tells why there is none", async () => {
    expect(await fetched(`${origin}/1.json`)).toBe("hello");
    const answers: readonly (readonly [() => Response, string])[] = [
      [() => new Response("gone", { status: 404 }), "status"],
      [() => new Response("<html>"), "not_json"],
      [() => new Response(JSON.stringify({ description: "a".repeat(300_000) })), "too_large"],
    ];
    for (const [answer, fault] of answers) {
      respond = answer;
      expect(await fetched(`${origin}/1.json`)).toBe(fault);
    }
    expect(await fetched("http://nowhere.example/1.json")).toBe("unreachable");
  });

  test("reaches no private address that is not allowed, itself or by a redirect", async () => {
    expect(await fetched(`${origin}/1.json`, { ranges: [] })).toBe("refused");
    expect(asked).toEqual([]);
    respond = () => new Response(null, { status: 302, headers: { location: "http://10.0.0.1/1.json" } });
    expect(await fetched(`${origin}/1.json`)).toBe("refused");
    respond = () => new Response(null, { status: 302, headers: { location: "http://169.254.169.254/latest" } });
    expect(await fetched(`${origin}/1.json`, { ranges: ["0.0.0.0/0"] })).toBe("refused");
  });

  test("reaches a gateway that the operator has named at any address, but not what it redirects to", async () => {
    const cid = "b".repeat(46);
    expect(await fetched(`ipfs://${cid}/1.json`, { ranges: [] })).toBe("hello");
    expect(asked).toEqual([`/ipfs/${cid}/1.json`]);
    respond = () => new Response(null, { status: 302, headers: { location: `${origin}/admin` } });
    expect(await fetched(`ipfs://${cid}/1.json`, { ranges: [] })).toBe("refused");
    expect(asked).not.toContain("/admin");
  });

  test("follows three redirects, relative ones too, and no more, and none to where no call goes", async () => {
    respond = (request) => {
      const step = Number(new URL(request.url).pathname.slice(1));
      if (step === 3) return Response.json({ description: "far" });
      return new Response(null, { status: 307, headers: { location: `/${step + 1}` } });
    };
    expect([await fetched(`${origin}/0`), await fetched(`${origin}/-1`)]).toEqual(["far", "redirects"]);
    for (const location of ["file:///etc/passwd", "ftp://a.example", "http://user@a.example/", ""]) {
      respond = () => new Response(null, { status: 301, headers: location === "" ? {} : { location } });
      expect(await fetched(`${origin}/0`)).toBe("redirects");
    }
  });

  test("has one time for all of its steps", async () => {
    respond = () => new Promise<Response>(() => undefined);
    expect(await fetched(`${origin}/0`, { timeoutMs: 100 })).toBe("unreachable");
  });
});

describe("documents", () => {
  let clock: ManualClock;
  let outcomes: string[];
  let fetches: { url: string; settle: (fetched: FetchedDocument) => void }[];
  let documents: Documents;
  const empty = { animationUrl: null, externalUrl: null, category: null, image: null, attributes: [], files: [] };
  const found = (description: string): FetchedDocument => ({ ok: true, document: { ...empty, description } });

  beforeEach(() => {
    clock = new ManualClock();
    outcomes = [];
    fetches = [];
    const cache = (lifetimeMs: number) =>
      new TextCache({ lifetimeMs, charactersMax: 1_000_000, entriesMax: 1_000 }, { clock });
    documents = new Documents(
      { ipfsGateway: "https://ipfs.example", arweaveGateway: "https://ar.example", allowHttp: false },
      {
        clock,
        kept: cache(3_600_000),
        faults: cache(300_000),
        fetch: {
          fetch: (location) =>
            new Promise((settle) => {
              fetches.push({ url: location.kind === "bytes" ? "bytes" : location.text, settle });
            }),
        },
        events: { documentFetched: (outcome) => void outcomes.push(outcome) },
      },
    );
  });

  const begun = (count: number) => eventually(`${count} fetches have begun`, () => fetches.length === count);
  const uri = "https://meta.example/1.json";

  test("are fetched once for all who ask at a time, and kept for an hour", async () => {
    const reads = [documents.read(uri, 1_000, key), documents.read(uri, 1_000, key)];
    await begun(1);
    fetches[0]?.settle(found("one"));
    const read = { state: "read", document: { ...empty, description: "one" } };
    expect(await Promise.all(reads)).toEqual([read, read] as never);
    clock.advance(3_599_999);
    expect(await documents.read(uri, 1_000, key)).toEqual(read as never);
    expect(fetches).toHaveLength(1);
    clock.advance(1);
    void documents.read(uri, 1_000, key);
    await begun(2);
  });

  test("that cannot be had are not asked for again for five minutes", async () => {
    const first = documents.read(uri, 1_000, key);
    await begun(1);
    fetches[0]?.settle({ ok: false, fault: "status" });
    expect((await first).state).toBe("failed");
    clock.advance(299_999);
    expect((await documents.read(uri, 1_000, key)).state).toBe("failed");
    expect([fetches.length, outcomes]).toEqual([1, ["status"]]);
    clock.advance(1);
    void documents.read(uri, 1_000, key);
    await begun(2);
  });

  test("are told as pending when they take longer than is waited for, and are there for who asks next", async () => {
    const slow = documents.read(uri, 1_000, key);
    await begun(1);
    clock.advance(1_000);
    expect(await slow).toEqual({ state: "pending", document: null });
    fetches[0]?.settle(found("late"));
    await eventually("the document is kept", async () => (await documents.read(uri, 0, key)).state === "read");
    expect(fetches).toHaveLength(1);
  });

  const uris = (host: string, count: number) => Array.from({ length: count }, (_, at) => `https://${host}/${at}.json`);
  const ask = (list: readonly string[], caller = key) => list.map((each) => documents.read(each, 1_000, caller));
  const hostsAsked = () => fetches.map(({ url }) => new URL(url).host);
  const settleAll = async (from: number, fetched: FetchedDocument) => {
    for (const { settle } of fetches.slice(from)) settle(fetched);
    await turns();
  };
  /** What was settled has had its effects. */
  const turns = async () => {
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  };

  test("of a host that has not answered are fetched four at a time, and more once it has", async () => {
    void ask(uris("meta.example", 100));
    await turns();
    expect(fetches).toHaveLength(4);
    fetches[0]?.settle(found("one"));
    await turns();
    // Eight run for one caller at one host.
    expect(fetches).toHaveLength(9);
    void ask(uris("meta.example", 200).slice(100), "other");
    await turns();
    expect(fetches).toHaveLength(13);
  });

  test("of hosts that hang keep nobody from a host that answers, whoever asks for them and how many there are", async () => {
    void ask(uris("good.example", 1));
    await turns();
    await settleAll(0, found("one"));
    for (const caller of ["a", "b", "c", "d", "e"]) {
      void ask(
        Array.from({ length: 100 }, (_, at) => `https://hangs-${caller}-${at}.example/1.json`),
        caller,
      );
    }
    await turns();
    expect(fetches).toHaveLength(1 + 16);
    const read = documents.read("https://good.example/2.json", 1_000, "honest");
    await turns();
    expect(hostsAsked().at(-1)).toBe("good.example");
    fetches.at(-1)?.settle(found("two"));
    expect((await read).state).toBe("read");
  });

  test("of a host that is out of reach are fetched one at a time until it answers", async () => {
    void ask(uris("away.example", 20));
    await turns();
    await settleAll(0, { ok: false, fault: "unreachable" });
    // Three have begun before the fourth ended.
    expect(fetches).toHaveLength(7);
    await settleAll(4, { ok: false, fault: "unreachable" });
    expect(fetches).toHaveLength(8);
    await settleAll(7, { ok: false, fault: "status" });
    expect(fetches).toHaveLength(16);
  });

  test("are fetched for callers in turn, so that a thousand of one do not hold up the one of another", async () => {
    void ask(uris("meta.example", 1));
    await turns();
    await settleAll(0, found("one"));
    void ask(uris("meta.example", 1_000), "greedy");
    await turns();
    const begunFor = fetches.length;
    void ask(["https://meta.example/modest.json"], "modest");
    await turns();
    // The caller that has fewer than his part begins at once, and as soon as one ends where the host's part is full.
    expect(fetches.slice(begunFor).map(({ url }) => url)).toEqual(["https://meta.example/modest.json"]);
    void ask(uris("meta.example", 1_010).slice(1_000), "third");
    await turns();
    const full = fetches.length;
    void ask(["https://meta.example/late.json"], "fourth");
    fetches[1]?.settle(found("ended"));
    fetches[2]?.settle(found("ended"));
    fetches[3]?.settle(found("ended"));
    await turns();
    expect(fetches.slice(full).map(({ url }) => url)).toContain("https://meta.example/late.json");
  });

  test("that hang behind a gateway keep one caller in half of its places", async () => {
    const cid = (at: number) => `ipfs://${String(at).padStart(46, "Q")}/1.json`;
    void ask(
      Array.from({ length: 50 }, (_, at) => cid(at)),
      "greedy",
    );
    await turns();
    expect(fetches).toHaveLength(8);
    await settleAll(0, { ok: false, fault: "unreachable" });
    expect(fetches).toHaveLength(16);
    void ask([cid(1_000)], "modest");
    await turns();
    expect(fetches.at(-1)?.url).toContain("QQ1000/1.json");
  });

  test("that another caller waits for as well begin with the first turn of either", async () => {
    const list = uris("slow.example", 50);
    void ask(list, "greedy");
    await turns();
    expect(fetches).toHaveLength(4);
    const last = list.at(-1) ?? "";
    const read = documents.read(last, 1_000, "modest");
    fetches[0]?.settle(found("one"));
    await turns();
    expect(fetches.map(({ url }) => url)).toContain(last);
    fetches.find(({ url }) => url === last)?.settle(found("shared"));
    expect((await read).document?.description).toBe("shared");
  });

  test("are not waited for beyond a thousand of one caller, and four thousand of all", async () => {
    const reads = ask(uris("meta.example", 1_005));
    await turns();
    expect(outcomes).toEqual(["busy"]);
    expect((await reads.at(-1))?.state).toBe("pending");
    for (const caller of ["a", "b", "c"]) void ask(uris(`${caller}.example`, 1_004), caller);
    await turns();
    expect(outcomes).toHaveLength(1);
    expect((await documents.read("https://e.example/1.json", 1_000, "e")).state).toBe("pending");
    expect(outcomes).toEqual(["busy", "busy"]);
  });

  test("of no URI and of one that leads nowhere cost no fetch", async () => {
    expect((await documents.read("", 1_000, key)).state).toBe("none");
    expect((await documents.read("file:///etc/passwd", 1_000, key)).state).toBe("failed");
    expect(fetches).toEqual([]);
  });
});
