import { expect, test } from "bun:test";
import { SipHash } from "./siphash.ts";

const key = (from: number) => new DataView(Uint8Array.from({ length: 8 }, (_, index) => from + index).buffer);

/** The key is the bytes 0 to 15, the input the bytes 0 to length - 1. Source: the paper's appendix, and its code. */
test.each([
  [0, "726fdb47dd0e0e31"],
  [1, "74f839c593dc67fd"],
  [8, "93f5f5799a932462"],
  [15, "a129ca6149be45e5"],
  [63, "958a324ceb064572"],
])("an input of %i bytes has the hash that the authors give", (length, hash) => {
  const sip = new SipHash(key(0).getBigUint64(0, true), key(8).getBigUint64(0, true));
  sip.hash(Uint8Array.from({ length }, (_, index) => index));
  const text = [sip.high, sip.low].map((half) => half.toString(16).padStart(8, "0")).join("");
  expect(text).toBe(hash);
});
