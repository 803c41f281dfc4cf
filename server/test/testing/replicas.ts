/** What tests of several processes on the same stores have in common: keys for a load, and the load. */
import { type Gateway, sluice } from "./gateway.ts";
import { post } from "./network.ts";

export interface FreshKey {
  readonly accountId: string;
  readonly keyId: string;
  readonly key: string;
}

/** A key of a new account with that many requests a second and a million credits. */
export async function freshKey(
  gateway: Gateway,
  environment: Record<string, string>,
  requestsPerSecond: number,
): Promise<FreshKey> {
  const account = await sluice(gateway, environment, "accounts", "create", "--name", "shared", "--tier", "enterprise");
  const limits = ["--requests-per-second", String(requestsPerSecond), "--credits-monthly", "1000000"];
  await sluice(gateway, environment, "accounts", "set-limits", account.id, ...limits);
  const created = await sluice(gateway, environment, "keys", "create", "--account", account.id, "--name", "first");
  return { accountId: String(account.id), keyId: String(created.id), key: String(created.key) };
}

export const heightCall = { jsonrpc: "2.0", id: 1, method: "getBlockHeight", params: [] };

/** The status of one call. */
export const ask = async (gateway: Gateway, key: string): Promise<number> =>
  (await post(gateway.url, heightCall, { "x-api-key": key })).status;

/** Asks all as fast as it goes, over several loops each, and counts what was answered and in what time. */
export async function spend(gateways: readonly Gateway[], key: string, spanMs: number) {
  const counts = { answered: 0, refused: 0, other: 0, seconds: 0 };
  const startMs = performance.now();
  const loop = async (gateway: Gateway): Promise<void> => {
    while (performance.now() - startMs < spanMs) {
      const status = await ask(gateway, key);
      if (status === 429) counts.refused += 1;
      else if (status === 200) counts.answered += 1;
      else counts.other += 1;
    }
  };
  await Promise.all(gateways.flatMap((gateway) => [loop(gateway), loop(gateway), loop(gateway)]));
  counts.seconds = (performance.now() - startMs) / 1_000;
  return counts;
}
