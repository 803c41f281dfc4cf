import type { Round } from "../../model/round.ts";
import { Aggregator } from "../aggregator.ts";
import type { Input } from "../inputs.ts";
import type { AggregateOptions } from "../options.ts";

/**
 * The rounds that these inputs make, one at a time: a log of any length is replayed in the room of one mark's rounds.
 */
export function* replay(inputs: Iterable<Input>, options: AggregateOptions): Generator<Round> {
  const aggregator = new Aggregator(options);
  for (const input of inputs) yield* aggregator.accept(input);
}
