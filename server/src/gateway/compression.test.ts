import { expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { StubNode } from "../upstreams/testing/stub-node.ts";
import { chosenCoding, compressedBytesMin } from "./compression.ts";
import { bootGateway } from "./testing/booted-gateway.ts";

test.each([
  [null, null],
  ["", null],
  ["identity", null],
  ["deflate", null],
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["br,gzip,deflate", "br"],
  ["gzip, deflate, br, zstd", "zstd"],
  ["gzip;q=1.0, br;q=0.5", "gzip"],
  ["br;q=0, gzip;q=0.2", "gzip"],
  ["*", "zstd"],
  ["*;q=0", null],
  ["zstd;q=0, *;q=0.1", "br"],
  ["GZIP", "gzip"],
  ["gzip;q=abc", "gzip"],
  [",,;;q=,", null],
])("of %j the coding is %j", (header, coding) => {
  expect(chosenCoding(header)).toBe(coding);
});

const undone: Readonly<Record<string, (bytes: Uint8Array) => Buffer>> = {
  zstd: zstdDecompressSync,
  br: brotliDecompressSync,
  gzip: gunzipSync,
};

const long = "A7".repeat(compressedBytesMin);
const wide = "é😀".repeat(compressedBytesMin / 4);

test.each([
  ["zstd", long],
  ["br", long],
  ["gzip", long],
  ["zstd", wide],
  ["gzip", wide],
])("a large answer in %s is, undone, the node's own bytes under the caller's id", async (coding, text) => {
  using node = new StubNode((call) => `{"jsonrpc":"2.0","result":["${text}",18446744073709551615],"id":${call.id}}`);
  await using booted = await bootGateway({ upstreams: { devnet: node } });
  for (const id of ["1", '"é"']) {
    const response = await fetch(`${booted.url}/rpc`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": "sk_dev_test", "accept-encoding": coding },
      body: `{"jsonrpc":"2.0","id":${id},"method":"getSlot"}`,
      decompress: false,
    });
    expect(response.headers.get("content-encoding")).toBe(coding);
    expect(response.headers.get("vary")).toContain("accept-encoding");
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect(bytes.length).toBeLessThan(text.length / 4);
    const whole = undone[coding]?.(bytes).toString();
    expect(whole).toBe(`{"jsonrpc":"2.0","result":["${text}",18446744073709551615],"id":${id}}`);
  }
  expect(node.calls.length).toBe(1);
});

test("a small answer, and one for a client that takes no coding, are sent as they are", async () => {
  using node = new StubNode(
    (call) => `{"jsonrpc":"2.0","result":"${call.method === "getSlot" ? "x" : long}","id":${call.id}}`,
  );
  await using booted = await bootGateway({ upstreams: { devnet: node } });
  const ask = (method: string, coding: string) =>
    fetch(`${booted.url}/rpc`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": "sk_dev_test", "accept-encoding": coding },
      body: `{"jsonrpc":"2.0","id":1,"method":"${method}"}`,
    });
  expect((await ask("getSlot", "br")).headers.get("content-encoding")).toBeNull();
  const plain = await ask("getBlockHeight", "identity");
  expect(plain.headers.get("content-encoding")).toBeNull();
  expect(plain.headers.get("vary")).toContain("accept-encoding");
  expect(await plain.text()).toContain(long);
});

test("a large batch is compressed as a whole", async () => {
  using node = new StubNode((call) => `{"jsonrpc":"2.0","result":"${long}","id":${call.id}}`);
  await using booted = await bootGateway({ upstreams: { devnet: node } });
  const response = await fetch(`${booted.url}/rpc`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "sk_dev_test", "accept-encoding": "gzip" },
    body: '[{"jsonrpc":"2.0","id":1,"method":"getSlot"},{"jsonrpc":"2.0","id":2,"method":"getSlot"}]',
  });
  expect(response.headers.get("content-encoding")).toBe("gzip");
  expect(((await response.json()) as { id: number }[]).map(({ id }) => id)).toEqual([1, 2]);
});
