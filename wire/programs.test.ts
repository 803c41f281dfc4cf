import { expect, test } from "bun:test";
import { isAddress } from "@solana/kit";
import { decodeAddress } from "./base58.ts";
import { parseAddress } from "./identifiers.ts";
import { programs, sysvars, wellKnownAddresses } from "./programs.ts";

test("every id is 32 bytes of base58, to us and to kit, and no two are the same", () => {
  const all = [...Object.values(programs), ...Object.values(sysvars), ...Object.values(wellKnownAddresses)];
  for (const address of all) {
    expect(parseAddress(address)).toBe(address);
    expect(isAddress(address)).toBe(true);
  }
  expect(new Set(all).size).toBe(all.length);
});

test("sysvars share the bytes that vanity text gives them, so that none is mistyped", () => {
  for (const address of Object.values(sysvars)) {
    expect(decodeAddress(address)?.slice(0, 3).toHex()).toBe("06a7d5");
  }
});
