import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { showUpstreams, type UpstreamConfig, upstreamEntry, upstreamGroups, upstreamList } from "./upstreams.ts";

function read(text: string): readonly UpstreamConfig[] {
  const parsed = upstreamList.parse(text);
  if (!parsed.ok) throw new Error(parsed.expected);
  return parsed.value;
}

const expected = (text: string): string => {
  const parsed = upstreamList.parse(text);
  return parsed.ok ? "" : parsed.expected;
};

describe("lists of upstreams", () => {
  test("an entry with every option is read", () => {
    const text =
      "one=https://n.example/rpc;ws=wss://w.example/;groups=send+read;weight=3;rps=100;header=X-Key: a%2Cb;header=X-B: c:d";
    expect(read(text)).toEqual([
      {
        label: "one",
        url: "https://n.example/rpc",
        ws: "wss://w.example/",
        groups: ["read", "send"],
        weight: 3,
        requestsPerSecond: 100,
        headers: { "x-key": "a,b", "x-b": "c:d" },
      },
    ]);
  });

  test("an entry names where the node serves Yellowstone, with a token that is never shown", () => {
    const text = "one=https://n.example;grpc=https://g.example:10000;grpc-token=a%2Cb%3Bsecret";
    const [upstream] = read(text);
    expect(upstream?.yellowstone).toEqual({ url: "https://g.example:10000/", token: "a,b;secret" });
    expect(read("one=http://n;grpc=http://g:1")[0]?.yellowstone).toEqual({ url: "http://g:1/", token: null });
    expect(read("one=http://n")[0]).not.toHaveProperty("yellowstone");
    expect(showUpstreams(text)).toContain(";grpc=https://g.example:10000;grpc-token=(hidden)");
    expect(showUpstreams(text)).not.toContain("secret");
    const parts = { label: "one", url: "http://n", yellowstone: { url: "http://g:1/", token: "a,b;c" } };
    expect(read(upstreamEntry(parts))[0]?.yellowstone).toEqual(parts.yellowstone);
  });

  test("an entry with nothing but its address reads only, with weight 1, no rate and a derived PubSub address", () => {
    expect(read("a=http://127.0.0.1:8899, b=https://b.example/v1")).toMatchObject([
      { ws: "ws://127.0.0.1:8900/", groups: ["read"], weight: 1, requestsPerSecond: null, headers: {} },
      { ws: "wss://b.example/v1", url: "https://b.example/v1" },
    ]);
  });

  test("a user part of the address becomes a header and is gone from both addresses", () => {
    const [upstream] = read("a=https://user:p%40ss@n.example/");
    expect(upstream?.url).toBe("https://n.example/");
    expect(upstream?.ws).toBe("wss://n.example/");
    expect(upstream?.headers).toEqual({ authorization: `Basic ${btoa("user:p@ss")}` });
  });

  test.each([
    ["two entries of one label", "a=http://a,a=http://b", "in entry 2"],
    ["an option that does not exist", "a=http://a;wieght=1", "options"],
    ["an option given twice", "a=http://a;weight=1;weight=2", "once"],
    ["an unknown group", "a=http://a;groups=read+write", "groups"],
    ["a weight of nothing", "a=http://a;weight=0", "weight"],
    ["a PubSub address over http", "a=http://a;ws=http://a", "ws"],
    ["an address of gRPC with a path", "a=http://a;grpc=http://g/path", "grpc"],
    ["an address of gRPC with a user", "a=http://a;grpc=http://u:p@g", "grpc"],
    ["an address of gRPC twice", "a=http://a;grpc=http://g;grpc=http://g", "once"],
    ["a token without an address", "a=http://a;grpc-token=t", "grpc-token"],
    ["a token that breaks the line", "a=http://a;grpc=http://g;grpc-token=a\r\nb", "grpc-token"],
    ["a header without name", "a=http://a;header=value", "header"],
    ["a header that breaks the line", "a=http://a;header=X: a\r\nY: b", "header"],
    ["a header that belongs to the connection", "a=http://a;header=Host: b", "header"],
    ["a header twice", "a=http://a;header=X: a;header=x: b", "different headers"],
    ["more nodes than the bound", Array.from({ length: 65 }, (_, n) => `n${n}=http://n`).join(","), "64"],
  ])("%s is refused", (_what, text, part) => {
    expect(expected(text)).toContain(part);
  });

  test("what is written is read back", () => {
    const label = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,20}$/);
    const entry = fc.record({
      label,
      host: fc.domain(),
      groups: fc.subarray([...upstreamGroups], { minLength: 1 }),
      weight: fc.integer({ min: 1, max: 1000 }),
    });
    fc.assert(
      fc.property(fc.uniqueArray(entry, { selector: ({ label }) => label, minLength: 1, maxLength: 5 }), (entries) => {
        const text = entries.map(
          (one) => `${one.label}=https://${one.host}/;groups=${one.groups.join("+")};weight=${one.weight}`,
        );
        expect(read(text.join(","))).toMatchObject(
          entries.map((one) => ({ label: one.label, groups: one.groups, weight: one.weight })),
        );
      }),
    );
  });

  test("a list is shown without paths, queries, users and values of headers", () => {
    const shown = showUpstreams("a=https://u:hunter2@n.example/hunter2?k=hunter2;header=X-Key: hunter2,b=http://b:1");
    expect(shown).not.toContain("hunter2");
    expect(shown).toContain("a=https://n.example/…");
    expect(shown).toContain("b=http://b:1;");
    expect(showUpstreams("hunter2")).not.toContain("hunter2");
  });

  test.each([
    ["a=https://n.example/key,b=htps://m.example/key", "a=https://n.example/…, b=htps://m.example/…"],
    ["a=http//n.example/key", "a=http//…"],
    ["a=http://n;wieght=3;groups=read+writ", "a=http://n;wieght=3;groups=read+writ"],
    ["a=http://u:token@n/?k=token;rps=0;header=X-Key token", "a=http://…@n/…;rps=0;header=(hidden, 11 characters)"],
    ["a=http://n;ws=http://n/token;header=Host: token", "a=http://n;ws=http://n/…;header=host: (hidden)"],
    ["a=http://n;weight=to-ken;header=token", "a=http://n;weight=(hidden, 6 characters);header=(hidden, 5 characters)"],
    ["a=http://n;grpc=htp://g/token;grpc-token=token", "a=http://n;grpc=htp://g/…;grpc-token=(hidden, 5 characters)"],
    ["http://n/?api-key=token", "(hidden, 23 characters)"],
  ])("a list with a fault shows where it is, without its secrets: %s", (text, shown) => {
    expect(upstreamList.parse(text).ok).toBe(false);
    expect(showUpstreams(text)).toBe(shown);
  });
});

test("an entry names a rate where its node has one", () => {
  const parts = { label: "a", url: "http://node.example" };
  expect(upstreamEntry({ ...parts, requestsPerSecond: 25 })).toBe("a=http://node.example;rps=25");
  for (const requestsPerSecond of [null, undefined]) {
    expect(upstreamEntry({ ...parts, requestsPerSecond } as typeof parts)).toBe("a=http://node.example");
  }
});
