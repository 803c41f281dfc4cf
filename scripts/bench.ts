/** `npm run bench -- <name>`: runs bench/<name>/index.ts, passing the rest on. Without a name: what there is. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run-tests.ts";

const [name, ...rest] = process.argv.slice(2);
const entry = join(root, "bench", name ?? "", "index.ts");
if (name === undefined || !/^[a-z-]+$/.test(name) || !existsSync(entry)) {
  const found = [...new Bun.Glob("*/index.ts").scanSync({ cwd: join(root, "bench") })];
  console.log(
    found
      .map((path) => path.replace("/index.ts", ""))
      .toSorted()
      .join("\n"),
  );
  process.exitCode = name === undefined ? 0 : 2;
} else {
  const child = Bun.spawn([process.execPath, entry, ...rest], { cwd: root, stdio: ["inherit", "inherit", "inherit"] });
  process.exitCode = await child.exited;
}
