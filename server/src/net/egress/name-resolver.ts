import { lookup } from "node:dns/promises";

/** Finds the addresses of names. */
export interface NameResolver {
  /** All addresses of a name, those of IPv4 first; none where it has none or cannot be looked up. Never rejects. */
  addressesOf(hostname: string): Promise<readonly string[]>;
}

/** More are not tried. */
const addressesMax = 16;
/** A resolver that answers nobody holds threads of the process: further look-ups fail at once meanwhile. */
const pendingMax = 256;

/** The system's resolver. */
export function systemResolver(): NameResolver {
  let pending = 0;
  return {
    addressesOf: async (hostname) => {
      if (pending >= pendingMax) return [];
      pending += 1;
      try {
        const found = await lookup(hostname, { all: true });
        const sorted = found.toSorted((one, other) => one.family - other.family);
        return sorted.slice(0, addressesMax).map(({ address }) => address);
      } catch {
        return [];
      } finally {
        pending -= 1;
      }
    },
  };
}
