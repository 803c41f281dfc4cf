import { describe, expect, test } from "bun:test";
import { flagName, keyNames, keys } from "./keys.ts";
import { companions, samples } from "./testing/key-samples.ts";
import { faultsOf, load, masterKey } from "./testing/loaded-config.ts";

describe("each key", () => {
  test.each(keyNames.map((name) => [name] as const))("%s reads what is right, wherever it is given", (name) => {
    for (const [text, pick, expected] of samples[name].good) {
      const env = { ...companions[name] };
      expect(pick(load({ env: { ...env, [name]: text } }))).toEqual(expected);
      const { toml, flag } = keys[name];
      if (toml !== null) expect(pick(load({ env, tomlText: tomlOf(toml, text) }))).toEqual(expected);
      if (flag) expect(pick(load({ env, flags: { [flagName(name)]: text } }))).toEqual(expected);
    }
  });

  test.each(keyNames.map((name) => [name] as const))(
    "%s refuses what is wrong, with its name and what it expects",
    (name) => {
      for (const text of samples[name].bad) {
        const faults = faultsOf({ env: { ...companions[name], [name]: text } });
        expect([text, faults.map(({ key, source }) => [key, source])]).toEqual([text, [[name, "environment"]]]);
        expect(faults[0]?.expected.length).toBeGreaterThan(3);
      }
    },
  );

  test("an empty value is the same as none", () => {
    const empty = Object.fromEntries(keyNames.map((name) => [name, " "]));
    expect(load({ env: empty })).toEqual(load({}));
  });

  test("every default is accepted by its own parser, in both modes", () => {
    expect(load({ mode: "dev" }).bind).toBe("127.0.0.1");
    const serve = load({ mode: "serve", env: { MASTER_KEY: masterKey } });
    expect(serve.bind).toBe("0.0.0.0");
    expect(serve.ports.gateway).toBe(8899);
    expect(serve.resolver).toEqual({
      host: "0.0.0.0",
      port: 8691,
      chainRpcUrl: null,
      nameProgram: null,
      handleProgram: null,
      commitment: "confirmed",
    });
  });
});

function tomlOf(path: string, text: string): string {
  const [table, key] = path.split(".");
  return `[${table}]\n${key} = ${JSON.stringify(text)}\n`;
}
