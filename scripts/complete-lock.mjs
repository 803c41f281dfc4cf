#!/usr/bin/env node
/**
 * Completes package-lock.json with the optional packages of other platforms.
 *
 * A registry mirror that lacks a package for another platform makes `npm install` leave it out of the lock, and `npm ci`
 * of npm 11 then refuses the lock as out of step. An entry that names version and platform is all that npm needs to
 * accept the lock and to skip the package where it does not apply. Run `npm run lock` after each change of a
 * dependency; `--check` exits with 1 and names what is missing.
 */
import { readFileSync, writeFileSync } from "node:fs";

const lockUrl = new URL("../package-lock.json", import.meta.url);

const operatingSystems = ["darwin", "linux", "win32", "freebsd", "openbsd", "netbsd", "sunos", "aix", "android"];
const osAliases = { windows: "win32", win32: "win32", linuxmusl: "linux" };
const processors = {
  x64: "x64",
  arm64: "arm64",
  aarch64: "arm64",
  ia32: "ia32",
  arm: "arm",
  ppc64: "ppc64",
  s390x: "s390x",
  riscv64: "riscv64",
  loong64: "loong64",
  mips64el: "mips64el",
};

/** Reads the platform that a package is for from the words of its name. */
export function platformOf(name) {
  const words = name.toLowerCase().split(/[-/]/);
  const os = words.map((word) => osAliases[word] ?? word).find((word) => operatingSystems.includes(word));
  const cpu = words.map((word) => processors[word]).find(Boolean);
  const libc = words.some((word) => word === "musl" || word === "linuxmusl")
    ? "musl"
    : words.includes("gnu") || words.includes("gnueabihf")
      ? "glibc"
      : undefined;
  return { os, cpu, libc };
}

/** The optional packages that the lock's packages name and the lock does not hold: [{path, entry}]. */
export function missingEntries(lock) {
  const missing = new Map();
  for (const [path, meta] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(meta.optionalDependencies ?? {})) {
      const nested = path === "" ? `node_modules/${name}` : `${path}/node_modules/${name}`;
      if (lock.packages[nested] || lock.packages[`node_modules/${name}`]) continue;
      const { os, cpu, libc } = platformOf(name);
      if (os === undefined && cpu === undefined) continue;
      missing.set(`node_modules/${name}`, {
        version: version.replace(/^[\^~]/, ""),
        ...(cpu === undefined ? {} : { cpu: [cpu] }),
        ...(libc === undefined ? {} : { libc: [libc] }),
        optional: true,
        ...(os === undefined ? {} : { os: [os] }),
      });
    }
  }
  return [...missing].map(([path, entry]) => ({ path, entry }));
}

if (process.argv[1] && import.meta.url.endsWith(process.argv[1].split("/").pop())) {
  const lock = JSON.parse(readFileSync(lockUrl, "utf8"));
  const missing = missingEntries(lock);
  if (process.argv.includes("--check")) {
    for (const { path } of missing) console.error(`package-lock.json lacks ${path}: run npm run lock`);
    process.exitCode = missing.length === 0 ? 0 : 1;
  } else if (missing.length > 0) {
    for (const { path, entry } of missing) lock.packages[path] = entry;
    const [root, ...rest] = Object.entries(lock.packages);
    lock.packages = Object.fromEntries([root, ...rest.sort(([a], [b]) => (a < b ? -1 : 1))]);
    writeFileSync(lockUrl, `${JSON.stringify(lock, null, 2)}\n`);
    console.log(`Added ${missing.length} entries to package-lock.json.`);
  }
}
