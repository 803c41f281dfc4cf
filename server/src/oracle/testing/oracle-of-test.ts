import { afterEach } from "bun:test";
import { type BootOptions, bootOracle } from "./booted-oracle.ts";

type Booted = Awaited<ReturnType<typeof bootOracle>>;

/** For a file of tests each of which boots one oracle at most: it is ended with its test. */
export function oracleOfTest(): (options?: BootOptions) => Promise<Booted> {
  let open: Booted | null = null;
  afterEach(async () => {
    await open?.dispose();
    open = null;
  });
  return async (options) => {
    open = await bootOracle(options);
    return open;
  };
}
