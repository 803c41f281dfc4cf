import { describe, expect, test } from "bun:test";
import { programs } from "@sluice/wire/programs";
import { AddressLookupTableProgram, PublicKey } from "@solana/web3.js";
import { parsedOf, parsedOfParts, u32, u64 } from "../testing/instruction.ts";
import { A, a, B, b, C, c, D, d } from "../testing/keys.ts";

describe("address lookup table", () => {
  const table = (type: string, info: object) => ({ program: "address-lookup-table", parsed: { type, info } });
  const named = { lookupTableAccount: A, lookupTableAuthority: B };
  const whole = { lookupTable: a, authority: b };

  test("createLookupTable", () => {
    const [built, lookupTable] = AddressLookupTableProgram.createLookupTable({
      authority: b,
      payer: c,
      recentSlot: 77,
    });
    const [, bumpSeed] = PublicKey.findProgramAddressSync([b.toBytes(), u64(77n)], AddressLookupTableProgram.programId);
    expect(parsedOf(built)).toEqual(
      table("createLookupTable", {
        lookupTableAccount: lookupTable.toBase58(),
        lookupTableAuthority: B,
        payerAccount: C,
        systemProgram: programs.system,
        recentSlot: 77n,
        bumpSeed,
      }),
    );
  });
  test("extendLookupTable, with and without a payer", () => {
    const paid = AddressLookupTableProgram.extendLookupTable({ ...whole, payer: c, addresses: [d, a] });
    const payer = { payerAccount: C, systemProgram: programs.system };
    expect(parsedOf(paid)).toEqual(table("extendLookupTable", { ...named, ...payer, newAddresses: [D, A] }));
    const unpaid = AddressLookupTableProgram.extendLookupTable({ ...whole, addresses: [d] });
    expect(parsedOf(unpaid)).toEqual(table("extendLookupTable", { ...named, newAddresses: [D] }));
  });
  test("freezeLookupTable, deactivateLookupTable and closeLookupTable", () => {
    expect(parsedOf(AddressLookupTableProgram.freezeLookupTable(whole))).toEqual(table("freezeLookupTable", named));
    expect(parsedOf(AddressLookupTableProgram.deactivateLookupTable(whole))).toEqual(
      table("deactivateLookupTable", named),
    );
    expect(parsedOf(AddressLookupTableProgram.closeLookupTable({ ...whole, recipient: c }))).toEqual(
      table("closeLookupTable", { ...named, recipient: C }),
    );
  });
  test("a count of addresses beyond the data is refused without being believed", () => {
    expect(parsedOfParts(programs.addressLookupTable, [A, B], u32(2), u64(2n ** 63n))).toBeNull();
  });
});
