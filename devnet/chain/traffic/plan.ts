import type { GenesisKeypair } from "../model/index.ts";
import type { Draft, TrafficInstruction } from "./message.ts";
import type { CastMint } from "./parties.ts";
import type { Scene } from "./scene.ts";

/** A transaction that is not yet signed, and the compute units that it asks for when it bids for its place. */
export interface Plan extends Draft {
  readonly units: number;
}

/** `units` is what the whole transaction may use at most. */
export function plan(
  signers: readonly [GenesisKeypair, ...GenesisKeypair[]],
  units: number,
  instructions: readonly TrafficInstruction[],
): Plan {
  return { signers, units, instructions };
}

/** Who signs when units of a mint are made: the treasury pays, and whoever may make them says so. */
export function mintSigners({ cast }: Scene, mint: CastMint): readonly [GenesisKeypair, ...GenesisKeypair[]] {
  const { treasury } = cast;
  return mint.authority === treasury ? [treasury.keypair] : [treasury.keypair, mint.authority.keypair];
}
