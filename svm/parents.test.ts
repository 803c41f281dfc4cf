import { expect, test } from "bun:test";

const loaded = (specifier: string): readonly string[] => {
  const script = `await import("${specifier}"); console.log(JSON.stringify(Object.keys(require.cache)));`;
  const { stdout, stderr } = Bun.spawnSync([process.execPath, "-e", script], { cwd: import.meta.dir });
  if (stdout.length === 0) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString()) as string[];
};
const isLiteSvm = (path: string): boolean => path.includes("/litesvm/");

test("a process that uses a machine does not load LiteSVM, whose abort would end it", () => {
  for (const specifier of ["@sluice/svm", "@sluice/svm/bank", "@sluice/svm/bundles"]) {
    const paths = loaded(specifier);
    expect(paths.some((path) => path.includes("/svm/"))).toBe(true);
    expect(paths.filter(isLiteSvm)).toEqual([]);
  }
  expect(loaded("@sluice/svm/testing/litesvm-machine").some(isLiteSvm)).toBe(true);
}, 30_000);
