import { expect, test } from "bun:test";
import { examples, renderConfigurationExample } from "./example.ts";
import { formatFaults } from "./faults.ts";
import { keyNames, keys } from "./keys.ts";
import { loadConfig } from "./load.ts";

const example = renderConfigurationExample();
/** The example with each setting taken. */
const taken = example.replaceAll(/^#(?! )/gm, "");

test("each key without a default has an example of what it looks like", () => {
  const without = keyNames.filter((name) => {
    const { toml, defaults } = keys[name];
    return toml !== null && defaults.serve === null && examples[name] === undefined;
  });
  expect(without).toEqual([]);
});

test("nothing is set before a comment is removed, and with all of them each key of a file is set", () => {
  const stores = { MASTER_KEY: "ab".repeat(32) };
  const untouched = loadConfig({ mode: "serve", env: stores, tomlText: example });
  expect(untouched.ok && untouched.config.settings.filter(({ source }) => source === "file")).toEqual([]);
  const outcome = loadConfig({ mode: "serve", env: stores, tomlText: taken });
  expect(outcome.ok ? "" : formatFaults(outcome.faults)).toBe("");
  const set = outcome.ok ? outcome.config.settings.filter(({ source }) => source === "file") : [];
  expect(set.length).toBe(keyNames.length - ["SLUICE_CONFIG", "MASTER_KEY", "MASTER_KEY_PREVIOUS"].length);
});

test("a default of the example is the default of the server", () => {
  const outcome = loadConfig({ mode: "serve", env: { MASTER_KEY: "ab".repeat(32) }, tomlText: taken });
  const bare = loadConfig({ mode: "serve", env: { MASTER_KEY: "ab".repeat(32) } });
  if (!outcome.ok || !bare.ok) throw new Error("the example does not load");
  for (const [index, { name, shown }] of bare.config.settings.entries()) {
    if (keys[name].defaults.serve !== null)
      expect([name, outcome.config.settings[index]?.shown]).toEqual([name, shown]);
  }
});
