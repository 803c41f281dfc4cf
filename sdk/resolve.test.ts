import { describe, expect, test } from "bun:test";
import { createResolver, type ResolveError, type ResolveOptions } from "./resolve.ts";

const wallet = "86xCnPeV69n6t3DnyGvkKobf9FdN2H9oiVDdaMpo2MMY";
const nobodys = "Crf8hzfthWGbGbLTVCiqRqV5MVnbpHB1L9KQMd6gsinb";
const record = (input: string, name: string, namespace: string, owner = wallet): object => ({
  input,
  name,
  namespace,
  owner,
  verification: "owner",
});

/** A resolver whose server gives this answer, and the URLs that it was asked. */
function answering(body: unknown, status = 200): { urls: string[]; resolver: ReturnType<typeof createResolver> } {
  const urls: string[] = [];
  const resolver = createResolver({
    url: "http://resolver:8691/",
    fetch: async (url) => {
      urls.push(url);
      return typeof body === "string" ? new Response(body, { status }) : Response.json(body, { status });
    },
  });
  return { urls, resolver };
}

async function codeOf(body: unknown, name: string, status = 200, options: ResolveOptions = {}): Promise<string> {
  const { resolver } = answering(body, status);
  return await resolver.resolve(name, options).then(
    () => "resolved",
    (error: ResolveError) => error.code,
  );
}

test("a domain and a handle resolve to their owners, asked for in one encoded segment", async () => {
  const domain = answering(record("Alice.X1", "alice.x1", "x1"));
  expect(await domain.resolver.resolve("Alice.X1")).toEqual({
    input: "Alice.X1",
    name: "alice.x1",
    namespace: "x1",
    owner: wallet as never,
    ownerOnCurve: true,
  });
  expect(domain.urls).toEqual(["http://resolver:8691/resolve/Alice.X1"]);
  const handle = answering(record(" @a/b", "alice", "handle"));
  expect((await handle.resolver.resolve(" @a/b")).namespace).toBe("handle");
  expect(handle.urls).toEqual(["http://resolver:8691/resolve/%20%40a%2Fb"]);
});

test("a name that is absent from a chain without names is unavailable, never free", async () => {
  const absent = async (name: string, kind: string, headers: Record<string, string>): Promise<unknown> => {
    const resolver = createResolver({
      url: "http://resolver:8691",
      fetch: async () => Response.json({ error: `${kind} not registered`, input: name }, { status: 404, headers }),
    });
    return await resolver.resolve(name).catch((error: ResolveError) => error.code);
  };
  expect(await absent("a.x1", "domain", { "X-Domains": "unavailable" })).toBe("unavailable");
  expect(await absent("@a", "handle", { "X-Handles": "unavailable" })).toBe("unavailable");
  expect(await absent("a.x1", "domain", {})).toBe("not_registered");
});

describe("an owner without a private key", () => {
  const offCurve = { ...record("a.x1", "a.x1", "x1", nobodys), owner_on_curve: false };
  test("throws, reported by the server or not", async () => {
    expect(await codeOf(offCurve, "a.x1")).toBe("off_curve");
    expect(await codeOf(record("a.x1", "a.x1", "x1", nobodys), "a.x1")).toBe("off_curve");
    expect(await codeOf({ ...record("a.x1", "a.x1", "x1"), owner_on_curve: false }, "a.x1")).toBe("off_curve");
  });
  test("is returned on request", async () => {
    const { resolver } = answering(offCurve);
    expect(await resolver.resolve("a.x1", { allowOffCurve: true })).toMatchObject({ ownerOnCurve: false });
  });
});

describe("an answer that is not for the question is not trusted", () => {
  const good = record("alice.x1", "alice.x1", "x1");
  test.each([
    ["another namespace", { ...good, namespace: "xnt" }],
    ["another suffix", { ...good, name: "alice.xnt" }],
    ["another input", { ...good, input: "bob.x1" }],
    ["no input", { ...good, input: undefined }],
    ["another verification", { ...good, verification: "record" }],
    ["no address", { ...good, owner: "0x1234" }],
    ["a short address", { ...good, owner: wallet.slice(8) }],
    ["no name", { ...good, name: 7 }],
    ["nothing", {}],
    ["a list", []],
  ])("%s", async (_name, body) => expect(await codeOf(body, "alice.x1")).toBe("untrusted"));
});

describe("failures", () => {
  const problem = (error: string): object => ({ error, input: "alice.x1" });
  test.each([
    [404, problem("domain not registered"), "not_registered"],
    [404, { error: "not found" }, "unavailable"],
    [404, "<html>", "unavailable"],
    [404, { error: "domain not registered", input: "bob.x1" }, "unavailable"],
    [400, problem("invalid domain"), "invalid"],
    [409, problem("ambiguous: both a handle and a domain shape"), "ambiguous"],
    [502, problem("rpc unreachable"), "unavailable"],
    [502, problem("malformed account"), "unavailable"],
    [500, "", "unavailable"],
    [200, "null", "unavailable"],
    [200, " ".repeat(70_000), "unavailable"],
  ])("status %d with %j is %s", async (status, body, code) => {
    expect(await codeOf(body, "alice.x1", status)).toBe(code);
  });

  test("no connection, and no answer in time, are unavailable", async () => {
    const refused = createResolver({ url: "http://r", fetch: () => Promise.reject(new TypeError("refused")) });
    expect(refused.resolve("a.x1")).rejects.toMatchObject({ code: "unavailable", status: null });
    const slow = createResolver({
      url: "http://r",
      timeoutMs: 20,
      fetch: (_url, init) =>
        new Promise((_resolve, reject) => init.signal?.addEventListener("abort", () => reject(new Error("aborted")))),
    });
    expect(slow.resolve("a.x1")).rejects.toMatchObject({ code: "unavailable" });
  });
});

test("names without a shape, of two shapes, or of another namespace than wanted are not asked for", async () => {
  const { urls, resolver } = answering({});
  const codes: string[] = [];
  for (const [name, options] of [
    ["alice", {}],
    ["..", {}],
    ["alice.sol", {}],
    ["a\ud800.x1", {}],
    ["@alice.x1", {}],
    ["alice.x1", { namespace: "xnt" }],
    ["@alice", { namespace: "x1" }],
  ] as const) {
    codes.push((await resolver.resolve(name, options).catch((error: ResolveError) => error.code)) as string);
  }
  expect(codes).toEqual(["invalid", "invalid", "invalid", "invalid", "ambiguous", "invalid", "invalid"]);
  expect(urls).toEqual([]);
});
