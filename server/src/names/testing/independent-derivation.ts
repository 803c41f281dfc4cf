import { type Address, getAddressDecoder, getAddressEncoder, getProgramDerivedAddress } from "@solana/kit";

/**
 * Where names lie, by @solana/kit and the platform's own digest: it shares no code with the resolver, which is
 * evaluated by it. For tests and the campaign.
 */
const utf8 = new TextEncoder();
const encoder = getAddressEncoder();
const decoder = getAddressDecoder();
const none = decoder.decode(new Uint8Array(32));

async function registry(name: string, parent: Address, program: Address): Promise<Address> {
  const hashed = new Uint8Array(await crypto.subtle.digest("SHA-256", utf8.encode(`SPL Name Service${name}`)));
  const seeds = [hashed, new Uint8Array(32), encoder.encode(parent)];
  const [derived] = await getProgramDerivedAddress({ programAddress: program, seeds });
  return derived;
}

const roots = new Map<string, Promise<Address>>();

/** The registries of `blog.alice.x1` from `x1` down, the root first. */
export async function independentPath(name: string, program: string): Promise<readonly Address[]> {
  const programAddress = program as Address;
  const parts = name.split(".").reverse();
  const suffix = parts[0] ?? "";
  const key = `${program}/${suffix}`;
  const known = roots.get(key) ?? registry(suffix, none, programAddress);
  roots.set(key, known);
  const path = [await known];
  for (const [depth, label] of parts.slice(1).entries()) {
    path.push(await registry(depth === 0 ? label : `\0${label}`, path[depth] ?? none, programAddress));
  }
  return path;
}

export async function independentHandleAddress(handle: string, program: string): Promise<Address> {
  const padded = new Uint8Array(32);
  padded.set(utf8.encode(handle));
  const [derived] = await getProgramDerivedAddress({
    programAddress: program as Address,
    seeds: ["handle", padded],
  });
  return derived;
}
