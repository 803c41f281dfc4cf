import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type RpcMethodSpec, rpcMethods } from "@sluice/contract/rpc";
import type { JsonObject, JsonValue } from "@sluice/encode";
import { rpcMethods as nodeMethods } from "../../rpc/table.ts";
import { fullArguments, goodValue, leastArguments, wrongMember, wrongValues } from "./arguments.ts";
import { results } from "./results.ts";
import { makeWorld, type World } from "./world.ts";

/** Methods of a modified client, which have their own tests beside them: their parameters are not a validator's. */
const bundles = ["sendBundle", "simulateBundle"];
/** Methods of the product's table that a validator does not have: a provider's, those, and those over assets. */
const notAValidators = new Set(["getTransactionsForAddress", ...bundles]);
/** They honour no minContextSlot, whatever table describes them. */
const specs = [...rpcMethods.values()].filter(({ name, route }) => route !== "assets" && !notAValidators.has(name));

/** Where the configuration is the commitment and nothing else. */
const bare = new Set([
  "getMinimumBalanceForRentExemption",
  "getInflationGovernor",
  "getTokenAccountBalance",
  "getTokenSupply",
  "getTokenLargestAccounts",
]);

/** Without an encoding accounts come in base58, which is for 128 bytes and less: a token account's are refused. */
const tooLongForBase58 = new Set(["getTokenAccountsByOwner"]);
const tooLong = {
  code: -32600,
  message: "Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.",
};

const listMax: Readonly<Record<string, number>> = {
  getMultipleAccounts: 100,
  getSignatureStatuses: 256,
  getInflationReward: 32,
  getRecentPrioritizationFees: 128,
};

let world: World;
beforeAll(async () => {
  world = await makeWorld();
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());

const code = (error: JsonObject | undefined): number => Number(error?.["code"] ?? 0);

/** Asserts that the answer is a result of the method's shape and gives it. */
async function answers(spec: RpcMethodSpec, params: readonly JsonValue[]): Promise<JsonValue> {
  const { result, error } = await world.call(spec.name, params);
  expect({ method: spec.name, params, error }).toEqual({ method: spec.name, params, error: undefined });
  const shape = results[spec.name];
  expect(shape).toBeDefined();
  expect(shape?.(result, spec.name) ?? null).toBeNull();
  return result ?? null;
}

async function refuses(spec: RpcMethodSpec, params: readonly JsonValue[]): Promise<JsonObject> {
  const { error } = await world.call(spec.name, params);
  expect({ method: spec.name, params, refused: error !== undefined }).toMatchObject({ refused: true });
  return error ?? {};
}

test("the node has every method of the table, and the table every method of the node", () => {
  // One more is refused by every node that makes no snapshots, and has no result to look at.
  const listed = specs.map(({ name }) => name);
  expect([...nodeMethods().keys()].sort()).toEqual([...listed, ...bundles].toSorted());
  expect(Object.keys(results).sort()).toEqual(listed.filter((name) => name !== "getHighestSnapshotSlot").toSorted());
});

const answering = specs.filter(({ name }) => name !== "getHighestSnapshotSlot");

describe.each(answering.map((spec) => [spec.name, spec] as const))("%s", (_name, spec) => {
  const optionals = spec.parameters.filter(({ required }) => !required).length;
  const required = spec.parameters.length - optionals;

  test("answers its least call with a result of its shape", async () => {
    const least = leastArguments(world, spec);
    if (tooLongForBase58.has(spec.name)) expect(await refuses(spec, least)).toEqual(tooLong);
    else await answers(spec, least);
  });

  test("counts its parameters as a node does", async () => {
    const least = leastArguments(world, spec);
    const most = required + optionals + (spec.config === null ? 0 : 1);
    const mostAllowed = spec.name === "getLeaderSchedule" ? 2 : most;
    const tooMany = [...least, ...new Array<JsonValue>(mostAllowed - least.length + 1).fill(null)];
    const over = await refuses(spec, tooMany);
    expect(code(over)).toBe(-32602);
    if (mostAllowed === 0) expect(over["message"]).toBe("Invalid parameters: No parameters were expected");
    else if (mostAllowed === required) {
      expect(over["message"]).toBe(
        `Invalid params: invalid length ${tooMany.length}, expected a tuple of size ${required}.`,
      );
    } else {
      expect(over["message"]).toBe(`Invalid parameters: Expected from ${required} to ${mostAllowed} parameters.`);
      expect(over["data"]).toBe(`"Got: ${tooMany.length}"`);
    }
    if (required === 0) return;
    const under = await refuses(spec, least.slice(0, -1));
    expect(code(under)).toBe(-32602);
    expect(under["message"]).toBe(
      mostAllowed === required
        ? `Invalid params: invalid length ${required - 1}, expected a tuple of size ${required}.`
        : `\`params\` should have at least ${required} argument(s)`,
    );
  });

  test("takes an array of parameters and nothing else", async () => {
    const { error } = await world.call(spec.name, { named: 1n } as unknown as JsonValue[]);
    expect(error).toEqual({ code: -32602, message: "`params` should be an array" });
  });

  for (const [position, parameter] of spec.parameters.entries()) {
    for (const { value, says } of wrongValues(parameter.value)) {
      if (value === null && !parameter.required) continue;
      const shown = JSON.stringify(value, (_member, inner: unknown) =>
        typeof inner === "bigint" ? `${inner}` : inner,
      );
      test(`refuses ${shown} as its ${parameter.name}`, async () => {
        const params = spec.parameters
          .slice(0, Math.max(required, position + 1))
          .map(({ name, value: kind }) => goodValue(world, spec.name, name, kind));
        params[position] = value;
        const error = await refuses(spec, params);
        expect(code(error)).toBe(-32602);
        expect(error["message"]).toMatch(says);
      });
    }
    const { value: kind } = parameter;
    if (kind.kind === "addresses" || kind.kind === "signatures") {
      test(`takes ${kind.max} ${parameter.name} and no more`, async () => {
        expect(kind.max).toBe(listMax[spec.name] ?? -1);
        const one = kind.kind === "addresses" ? world.names.vote : world.names.signature;
        await answers(spec, [new Array<JsonValue>(kind.max).fill(one)]);
        expect(await refuses(spec, [new Array<JsonValue>(kind.max + 1).fill(one)])).toEqual({
          code: -32602,
          message: `Too many inputs provided; max ${kind.max}`,
        });
      });
    }
  }

  if (spec.config === null) return;
  const { fields } = spec.config;

  test("takes null and an empty object for its configuration, and ignores members that it does not know", async () => {
    if (!tooLongForBase58.has(spec.name)) await answers(spec, fullArguments(world, spec, null));
    if (bare.has(spec.name)) {
      const { message } = await refuses(spec, fullArguments(world, spec, {}));
      expect(message).toBe("Invalid params: missing field `commitment`.");
      return;
    }
    // Of the statuses' configuration the one member has to be there.
    const given = spec.name === "getSignatureStatuses" ? { searchTransactionHistory: false } : {};
    const form = tooLongForBase58.has(spec.name) ? { encoding: "base64" } : {};
    await answers(spec, fullArguments(world, spec, { ...form, ...given }));
    await answers(spec, fullArguments(world, spec, { ...form, ...given, somethingElse: [1n, { deep: true }] }));
  });

  test("refuses a configuration that is no object", async () => {
    for (const wrong of [5n, true] as const) {
      const error = await refuses(spec, fullArguments(world, spec, wrong));
      expect(code(error)).toBe(-32602);
      expect(error["message"]).toMatch(/^Invalid params: (invalid type: |data did not match any variant)/);
    }
  });

  for (const [name, kind] of Object.entries(fields)) {
    test(`takes ${name} in its configuration`, async () => {
      const values = kind.kind === "choice" ? kind.values : [goodValue(world, spec.name, name, kind)];
      for (const value of values) {
        // Base58 is for 128 bytes and less; a slice makes any account fit.
        const slice = /^(base58|binary)$/.test(String(value)) ? { dataSlice: { offset: 0n, length: 16n } } : {};
        const isSent = spec.parameters[0]?.name === "transaction";
        if (isSent && value === "base58") continue;
        const form = name === "encoding" ? slice : fields["encoding"] === undefined ? {} : { encoding: "base64" };
        const params = fullArguments(world, spec, { ...form, [name]: value });
        await answers(spec, params);
      }
    });

    const wrong = wrongMember(name, kind);
    if (wrong === null) continue;
    test(`refuses ${name} of a wrong type`, async () => {
      const params = fullArguments(world, spec, { encoding: "base64", [name]: wrong });
      expect(code(await refuses(spec, params))).toBe(-32602);
    });
  }

  if (fields["commitment"] !== undefined) {
    const { least } = spec.commitment ?? { least: "processed" };
    test("knows each commitment that it has, and takes an unknown one as the node does", async () => {
      for (const commitment of ["processed", "confirmed", "finalized"] as const) {
        const params = fullArguments(world, spec, { commitment, encoding: "base64" });
        if (commitment === "processed" && least !== "processed") {
          const error = await refuses(spec, params);
          expect(error).toEqual({ code: -32602, message: "Method does not support commitment below `confirmed`" });
        } else await answers(spec, params);
      }
      const params = fullArguments(world, spec, { commitment: "max", encoding: "base64" });
      if (!bare.has(spec.name)) await answers(spec, params);
      else {
        const { message } = await refuses(spec, params);
        expect(message).toBe(
          "Invalid params: unknown variant `max`, expected one of `processed`, `confirmed`, `finalized`.",
        );
      }
    });
  }

  if (fields["minContextSlot"] !== undefined) {
    test("does not wait: a minContextSlot ahead of it is refused with the slot that it has", async () => {
      const params = fullArguments(world, spec, { minContextSlot: 1_000_000n, encoding: "base64" });
      const error = await refuses(spec, params);
      expect(error).toMatchObject({ code: -32016, message: "Minimum context slot has not been reached" });
      expect(error["data"]).toEqual({ contextSlot: expect.any(Number) });
    });
  }
});

test("a method that validators no longer have is not found", async () => {
  const gone = ["getConfirmedBlock", "getFees", "getRecentBlockhash", "getStakeActivation", "getTotalSupply", "nope"];
  for (const method of gone) {
    expect((await world.call(method)).error).toEqual({ code: -32601, message: "Method not found" });
  }
});
