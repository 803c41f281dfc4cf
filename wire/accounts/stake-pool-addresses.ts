import { findProgramAddress, type ProgramAddress, type Sha256 } from "../program-address.ts";
import { FieldWriter } from "./field-writer.ts";

/** The addresses that the SPL stake pool program derives for a pool. `program` and all other parts have 32 bytes. */

const utf8 = new TextEncoder();

function derived(seeds: readonly Uint8Array[], program: Uint8Array, sha256: Sha256): ProgramAddress {
  const found = findProgramAddress(seeds, program, sha256);
  if (found === null) throw new RangeError("no bump gives an address off the curve");
  return found;
}

/** Who may move the pool's stake and mint its token: 32 bytes, with the bump that the pool's account holds. */
export function stakePoolWithdrawAuthority(pool: Uint8Array, program: Uint8Array, sha256: Sha256): ProgramAddress {
  return derived([pool, utf8.encode("withdraw")], program, sha256);
}

/** Who may deposit stake where the pool names nobody else. */
export function stakePoolDepositAuthority(pool: Uint8Array, program: Uint8Array, sha256: Sha256): ProgramAddress {
  return derived([pool, utf8.encode("deposit")], program, sha256);
}

/** The account of the pool's stake with a validator, told by its vote account; `suffix` is 0 when there is none. */
export function poolValidatorStakeAddress(
  at: { readonly vote: Uint8Array; readonly pool: Uint8Array; readonly suffix: number },
  program: Uint8Array,
  sha256: Sha256,
): Uint8Array {
  const suffix = at.suffix === 0 ? [] : [new FieldWriter(4).u32(at.suffix).data];
  return derived([at.vote, at.pool, ...suffix], program, sha256).bytes;
}

/** The account of stake that is on its way to or from a validator. */
export function poolTransientStakeAddress(
  at: { readonly vote: Uint8Array; readonly pool: Uint8Array; readonly suffix: bigint },
  program: Uint8Array,
  sha256: Sha256,
): Uint8Array {
  const seeds = [utf8.encode("transient"), at.vote, at.pool, new FieldWriter(8).u64(at.suffix).data];
  return derived(seeds, program, sha256).bytes;
}
