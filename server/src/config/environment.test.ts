import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfigFromProcess, readEnvironment } from "./environment.ts";

const directory = mkdtempSync(join(tmpdir(), "sluice-config-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const path = join(directory, "sluice.toml");
writeFileSync(path, '[observe]\nlog_level = "warn"\n');

test("the file that SLUICE_CONFIG names is read", () => {
  expect(loadConfigFromProcess({ mode: "dev", env: { SLUICE_CONFIG: path } })).toMatchObject({
    ok: true,
    config: { logLevel: "warn" },
  });
});

test("--config wins over SLUICE_CONFIG", () => {
  const env = { SLUICE_CONFIG: join(directory, "absent.toml") };
  expect(loadConfigFromProcess({ mode: "dev", env, flags: { config: path } }).ok).toBe(true);
});

test("sluice.toml of the working directory is found by itself, and a file that is named wins", () => {
  const found = loadConfigFromProcess({ mode: "dev", env: {}, directory });
  expect(found).toMatchObject({ ok: true, config: { logLevel: "warn" } });
  const shown = found.ok ? found.config.settings.find(({ name }) => name === "SLUICE_CONFIG") : null;
  expect(shown).toMatchObject({ shown: path, source: "file" });
  const other = join(directory, "other.toml");
  writeFileSync(other, '[observe]\nlog_level = "error"\n');
  for (const named of [{ env: { SLUICE_CONFIG: other } }, { env: {}, flags: { config: other } }]) {
    expect(loadConfigFromProcess({ mode: "dev", directory, ...named })).toMatchObject({
      config: { logLevel: "error" },
    });
  }
  const elsewhere = loadConfigFromProcess({ mode: "dev", env: {}, directory: tmpdir() });
  expect(elsewhere).toMatchObject({ config: { logLevel: "info" } });
});

test("a file that cannot be read is one fault among the others", () => {
  const outcome = loadConfigFromProcess({ mode: "dev", env: { SLUICE_CONFIG: directory, LOG_LEVEL: "loud" } });
  const absent = loadConfigFromProcess({ mode: "dev", env: { SLUICE_CONFIG: join(directory, "absent.toml") } });
  expect(outcome).toMatchObject({ ok: false, faults: [{ key: "SLUICE_CONFIG" }, { key: "LOG_LEVEL" }] });
  expect(absent).toMatchObject({ ok: false, faults: [{ key: "SLUICE_CONFIG" }] });
});

test("a store's URL that names a file of certificates which is not there is refused before anything connects", () => {
  const refused = ["absent.pem", "sluice.toml"].map((name) =>
    loadConfigFromProcess({ mode: "dev", env: { REDIS_URL: `rediss://r?ca_file=${join(directory, name)}` } }),
  );
  for (const outcome of refused) {
    expect(outcome).toMatchObject({
      ok: false,
      faults: [{ key: "REDIS_URL", expected: expect.stringContaining("readable PEM file") }],
    });
  }
});

test("the environment is handed out as a copy", () => {
  const env = readEnvironment();
  expect(env["PATH"]).toBe(process.env["PATH"]);
  expect(env).not.toBe(process.env);
});
