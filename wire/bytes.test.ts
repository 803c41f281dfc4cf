import { expect, test } from "bun:test";
import { ByteReader } from "./bytes.ts";

test("32 zeros are no address, and any other byte makes one", () => {
  const zeros = new Uint8Array(32);
  expect(new ByteReader(zeros).addressOrZeros()).toBeNull();
  for (const at of [0, 15, 31]) {
    const bytes = zeros.with(at, 1);
    expect(new ByteReader(bytes).addressOrZeros()).toBe(new ByteReader(bytes).address());
  }
});
