/** `npm test`: all tests, and last a line `N passed, N failed`. Words after `--` pick groups by name. */
import { existsSync } from "node:fs";
import { runInLanes, systemGroups, unitGroups } from "./run-tests.ts";

const browsers = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Browser tests need a Chromium: Debian's is installed where that is possible, else what is missing is said. */
function ensureBrowser(): void {
  if (browsers.some((path) => existsSync(path)) || process.env["CHROMIUM_PATH"] !== undefined) return;
  if (process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) {
    console.log("Installing Chromium for the browser tests (apt-get install chromium)…");
    const quiet = {
      stdout: "ignore",
      stderr: "ignore",
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    } as const;
    Bun.spawnSync(["apt-get", "update", "-qq"], quiet);
    Bun.spawnSync(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"], quiet);
    if (browsers.some((path) => existsSync(path))) return;
  }
  console.warn(
    "NOT RUN: the browser tests, for want of a browser. Install Chromium (Debian: apt-get install chromium) or set CHROMIUM_PATH.",
  );
}

const wanted = process.argv.slice(2);
const groups = [...unitGroups, ...systemGroups].filter(
  (group) => wanted.length === 0 || wanted.some((word) => group.name.includes(word)),
);
ensureBrowser();
const { passed, failed } = await runInLanes(groups, { quiet: true, again: true });
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
