import { expect, test } from "bun:test";
import { testGrant, testKey } from "./testing/booted-gateway.ts";
import { address, type FailureBody, slotCall, withGateway } from "./testing/with-gateway.ts";

const listOf = (params: string): string => `{"jsonrpc":"2.0","id":"a","method":"getAssetsByOwner","params":${params}}`;
const list = listOf(`{"ownerAddress":"${address}"}`);

test("a key without the enhanced API may not call methods over assets, alone or in a batch, and pays nothing", () =>
  withGateway(async ({ post, fakes, facts }, node) => {
    const grant = { ...testGrant, enhanced: { ...testGrant.enhanced, isAllowed: false } };
    fakes.authenticate = (presented) => (presented === testKey ? grant : { ok: false, code: "INVALID_API_KEY" });
    const refused = await post(list);
    expect([refused.status, refused.headers.get("x-error-code")]).toEqual([403, "ENHANCED_API_DISABLED"]);
    expect(((await refused.json()) as FailureBody).error.code).toBe(-33480);
    const batch = (await (await post(`[${list},${slotCall}]`)).json()) as Partial<FailureBody>[];
    expect(batch.map(({ error }) => error?.code ?? null)).toEqual([-33480, null]);
    expect(node.calls.length).toBe(1);
    expect(fakes.creditsLeft).toBe(1_000_000 - 1);
    expect(facts[0]).toMatchObject({ method: "getAssetsByOwner", code: "ENHANCED_API_DISABLED", credits: 0 });
  }));

test("methods over assets take a token of the enhanced API's rate beside the ordinary one, in a batch each", () =>
  withGateway(async ({ post, fakes }) => {
    const taken: string[] = [];
    fakes.take = (bucket) => {
      taken.push(bucket);
      return { allowed: !bucket.startsWith("enhanced:") || taken.length < 3 };
    };
    await post(list);
    expect(taken.map((bucket) => bucket.startsWith("enhanced:"))).toEqual([false, true]);
    const limited = await post(list);
    expect(limited.status).toBe(429);
    const batch = (await (await post(`[${slotCall},${list}]`)).json()) as Partial<FailureBody>[];
    expect(batch.map(({ error }) => error?.code ?? null)).toEqual([null, -33429]);
    // The first list and the slot.
    expect(fakes.creditsLeft).toBe(1_000_000 - 15 - 1);
  }));

test("their parameters stand by name, or as one object in a list, and are checked by the table", () =>
  withGateway(async ({ post, fakes }, node) => {
    const code = async (params: string): Promise<number | null> =>
      ((await (await post(listOf(params))).json()) as Partial<FailureBody>).error?.code ?? null;
    expect(await code(`{"ownerAddress":"${address}"}`)).toBeNull();
    expect(await code(`[{"ownerAddress":"${address}"}]`)).toBeNull();
    expect(await code('{"ownerAddress":"0"}')).toBe(-32602);
    expect(await code(`{"ownerAddress":"${address}","limit":1001}`)).toBe(-32602);
    expect(await code(`[{"ownerAddress":"${address}"},1]`)).toBe(-32602);
    expect(node.calls.length).toBe(0);
    expect(fakes.creditsLeft).toBe(1_000_000 - 2 * 15);
  }));
