import { expect, test } from "bun:test";
import { locate } from "./location.ts";

const options = { ipfsGateway: "http://10.0.0.9:8080/ipfs", arweaveGateway: "https://ar.example/", allowHttp: false };
const cid = "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi";
const transaction = "a".repeat(43);

function placeOf(uri: string): string | null {
  const location = locate(uri, options);
  if (location === null) return null;
  return location.kind === "bytes" ? Buffer.from(location.bytes).toString() : `${location.kind} ${location.text}`;
}

test("a URI leads to a public address, behind the gateway of its kind, or is the document itself", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["https://meta.example/1.json", "public https://meta.example/1.json"],
    [`ipfs://${cid}/1.json`, `gateway http://10.0.0.9:8080/ipfs/${cid}/1.json`],
    [`IPFS://ipfs/${cid}`, `gateway http://10.0.0.9:8080/ipfs/${cid}`],
    [`ar://${transaction}`, `gateway https://ar.example/${transaction}`],
    ["data:application/json;base64,eyJhIjoxfQ==", '{"a":1}'],
    ["data:,%7B%22a%22%3A1%7D", '{"a":1}'],
  ];
  expect(cases.map(([uri]) => placeOf(uri))).toEqual(cases.map(([, place]) => place));
});

test("what leads nowhere, or out of a gateway's path, is null", () => {
  const uris = [
    "",
    "1.json",
    "http://meta.example/1.json",
    "file:///etc/passwd",
    "https://user@meta.example/",
    "https://meta.example:0/",
    "ipfs://../../api/v0/shutdown",
    `ipfs://${cid}/../../api`,
    `ipfs://${cid}/%2e%2E/%2e./api`,
    `ipfs://${cid}\\..\\api`,
    `ipfs://${cid}/..%2F..%2fapi`,
    `ipfs://${cid}/..%5C..%5capi`,
    `ipfs://${cid}?arg=1`,
    `ipfs://${cid}@10.0.0.1/`,
    "ar://short",
    "data:application/json",
    "data:,%zz",
    `data:,${"a".repeat(70_000)}`,
    `https://meta.example/${"a".repeat(3_000)}`,
  ];
  expect(uris.map((uri) => [uri.slice(0, 40), placeOf(uri)])).toEqual(uris.map((uri) => [uri.slice(0, 40), null]));
});
