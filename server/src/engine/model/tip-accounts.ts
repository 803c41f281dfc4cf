import { createHash } from "node:crypto";
import { tipAccountAddress, tipAccountCount, tipPrograms } from "@sluice/wire/accounts/tips";
import { decodeAddress } from "@sluice/wire/base58";
import { type Address, addressOfBytes } from "@sluice/wire/identifiers";

const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash("sha256").update(bytes).digest());

/** The eight accounts that bundles pay their tips to. Source: wire facts, tip programs. */
export function tipAccounts(): readonly Address[] {
  const program = decodeAddress(tipPrograms.payment) ?? new Uint8Array(32);
  return Array.from({ length: tipAccountCount }, (_, index) =>
    addressOfBytes(tipAccountAddress(index, program, sha256).bytes),
  );
}
