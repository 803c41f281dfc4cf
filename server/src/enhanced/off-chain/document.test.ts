import { expect, test } from "bun:test";
import { readDocument } from "./document.ts";

const read = (value: unknown) => readDocument(Buffer.from(typeof value === "string" ? value : JSON.stringify(value)));

test("a document gives its texts, traits and files, numbers and flags as texts", () => {
  const document = {
    name: "Ape 1",
    description: "An ape",
    image: "https://a.example/1.png",
    animation_url: "https://a.example/1.mp4",
    external_url: "https://a.example",
    attributes: [
      { trait_type: "hat", value: "red" },
      { trait_type: "level", value: 18_446_744_073_709_551_615n.toString() },
      { trait_type: "rare", value: true },
      { trait_type: "half", value: 0.5 },
    ],
    properties: { category: "image", files: [{ uri: "https://a.example/1.png", type: "image/png" }, { uri: "x" }] },
  };
  expect(read(document)).toEqual({
    description: "An ape",
    image: "https://a.example/1.png",
    animationUrl: "https://a.example/1.mp4",
    externalUrl: "https://a.example",
    category: "image",
    attributes: [
      { traitType: "hat", value: "red" },
      { traitType: "level", value: "18446744073709551615" },
      { traitType: "rare", value: "true" },
      { traitType: "half", value: "0.5" },
    ],
    files: [
      { uri: "https://a.example/1.png", mime: "image/png" },
      { uri: "x", mime: null },
    ],
  });
});

test("members of other types are left out, and more than is kept of one document too", () => {
  const hostile = read({
    description: 7,
    image: { url: "x" },
    external_url: "a".repeat(2_049),
    attributes: [
      null,
      1,
      [],
      {},
      { trait_type: 1, value: "x" },
      { trait_type: "a", value: {} },
      { trait_type: "b", value: "c" },
    ],
    properties: [],
  });
  expect(hostile).toEqual({
    description: null,
    image: null,
    animationUrl: null,
    externalUrl: null,
    category: null,
    attributes: [{ traitType: "b", value: "c" }],
    files: [],
  });
  const many = Array.from({ length: 1_000 }, (_, at) => ({ trait_type: `${at}`, value: "v", uri: `${at}` }));
  const bounded = read({ attributes: many, properties: { files: many } });
  expect([bounded?.attributes.length, bounded?.files.length]).toEqual([128, 32]);
});

test("what is no JSON object is no document", () => {
  const nested = "[".repeat(100_000);
  for (const text of ["", "null", "[]", '"x"', "{", "<html>", nested, `{"a":${nested}`]) expect(read(text)).toBeNull();
  expect(readDocument(Uint8Array.of(0xff, 0xfe, 0x00))).toBeNull();
});
