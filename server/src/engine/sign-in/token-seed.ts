import { hkdfSync } from "node:crypto";
import type { Random } from "@sluice/lib";
import type { CursorStore } from "../../state/index.ts";

const seedName = "engine-sign-in-seed";
const seedBytes = 32;

/**
 * The seed of the key that tokens are signed with: derived from the master key, so that replicas share it, or without one
 * made once and kept in the store, as under `dev`.
 */
export async function tokenSeed(
  masterKey: string | null,
  dependencies: { readonly values: CursorStore; readonly random: Random },
): Promise<Uint8Array> {
  if (masterKey !== null) {
    const info = "sluice block engine sign-in";
    return new Uint8Array(hkdfSync("sha256", Buffer.from(masterKey, "hex"), new Uint8Array(0), info, seedBytes));
  }
  const { values, random } = dependencies;
  const kept = await values.get(seedName);
  if (kept !== null) return new Uint8Array(Buffer.from(kept, "hex"));
  const seed = random.bytes(seedBytes);
  await values.set(seedName, Buffer.from(seed).toString("hex"));
  return seed;
}
