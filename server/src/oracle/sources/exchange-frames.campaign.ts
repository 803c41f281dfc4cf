import { seededRandom } from "@sluice/lib";
import { evaluateMany } from "./testing/mutations.ts";

/**
 * `n` changed recordings and `n` random values through the reading of every exchange: no throw, no price that is none.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const { believed, faults } = evaluateMany(n, seededRandom(seed));
  return {
    // A run that believes nothing at all tested nothing.
    passed: faults.length === 0 && believed > 0,
    summary: faults.length === 0 ? `${believed} rows were believed, none of them wrongly shaped` : faults.join("\n"),
  };
}
