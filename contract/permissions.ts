import type { Permission } from "./tiers.ts";

const writing: ReadonlyMap<string, Permission> = new Map([
  ["sendTransaction", "transactions:write"],
  ["requestAirdrop", "transactions:write"],
  ["sendBundle", "bundles:write"],
]);

/**
 * The permission that a JSON-RPC method needs, on every port: `read`, unless it changes something. A method that no
 * table knows is taken to write when its name begins with `send`.
 */
export function permissionOf(method: string): Permission {
  return writing.get(method) ?? (method.startsWith("send") ? "transactions:write" : "read");
}

/** The longest name in a key's list of methods, without its final `*`. */
const methodNameMax = 64;
/** The most entries of a key's list of methods. */
export const keyMethodsMax = 100;

/** An entry of a key's list of methods: a name such as `getBalance`, or the beginning of names such as `getToken*`. */
export const methodPattern = new RegExp(`^[A-Za-z][A-Za-z0-9_]{0,${methodNameMax - 1}}\\*?$`);

/** Whether every method that the pattern `inner` allows is allowed by the pattern `outer` as well. */
export function coversMethod(outer: string, inner: string): boolean {
  if (!outer.endsWith("*")) return outer === inner;
  return inner.startsWith(outer.slice(0, -1));
}
