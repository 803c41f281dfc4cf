import { describe, expect, test } from "bun:test";
import { programs, sysvars } from "@sluice/wire/programs";
import { parsedOfParts, u8, u32, u64 } from "../testing/instruction.ts";
import { A, B, C, D, E } from "../testing/keys.ts";

describe("loaders", () => {
  const upgradeable = (accounts: string[], ...parts: Uint8Array[]) =>
    parsedOfParts(programs.bpfLoaderUpgradeable, accounts, ...parts);
  const loader = (type: string, info: object) => ({ program: "bpf-upgradeable-loader", parsed: { type, info } });
  const bytes = [u64(3n), u8(1, 2, 3)];

  test("the loader whose programs cannot be upgraded", () => {
    const plain = (type: string, info: object) => ({ program: "bpf-loader", parsed: { type, info } });
    expect(parsedOfParts(programs.bpfLoader, [A], u32(0), u32(16), ...bytes)).toEqual(
      plain("write", { offset: 16, bytes: "AQID", account: A }),
    );
    expect(parsedOfParts(programs.bpfLoader, [A, B], u32(1))).toEqual(plain("finalize", { account: A }));
  });
  test("buffers", () => {
    expect(upgradeable([A], u32(0))).toEqual(loader("initializeBuffer", { account: A }));
    expect(upgradeable([A, B], u32(0))).toEqual(loader("initializeBuffer", { account: A, authority: B }));
    expect(upgradeable([A, B], u32(1), u32(16), ...bytes)).toEqual(
      loader("write", { offset: 16, bytes: "AQID", account: A, authority: B }),
    );
  });
  test("programs", () => {
    const sysvarAccounts = [sysvars.rent, sysvars.clock];
    expect(upgradeable([A, B, C, D, ...sysvarAccounts, programs.system, E], u32(2), u64(99n))).toEqual(
      loader("deployWithMaxDataLen", {
        maxDataLen: 99n,
        payerAccount: A,
        programDataAccount: B,
        programAccount: C,
        bufferAccount: D,
        rentSysvar: sysvars.rent,
        clockSysvar: sysvars.clock,
        systemProgram: programs.system,
        authority: E,
      }),
    );
    expect(upgradeable([A, B, C, D, ...sysvarAccounts, E], u32(3))).toEqual(
      loader("upgrade", {
        programDataAccount: A,
        programAccount: B,
        bufferAccount: C,
        spillAccount: D,
        rentSysvar: sysvars.rent,
        clockSysvar: sysvars.clock,
        authority: E,
      }),
    );
    const program = { additionalBytes: 10, programDataAccount: A, programAccount: B };
    expect(upgradeable([A, B], u32(6), u32(10))).toEqual(
      loader("extendProgram", { ...program, systemProgram: null, payerAccount: null }),
    );
    expect(upgradeable([A, B, C, D], u32(6), u32(10))).toEqual(
      loader("extendProgram", { ...program, systemProgram: C, payerAccount: D }),
    );
  });
  test("authorities and closing", () => {
    expect(upgradeable([A, B], u32(4))).toEqual(
      loader("setAuthority", { account: A, authority: B, newAuthority: null }),
    );
    expect(upgradeable([A, B, C], u32(4))).toEqual(
      loader("setAuthority", { account: A, authority: B, newAuthority: C }),
    );
    expect(upgradeable([A, B, C], u32(7))).toEqual(
      loader("setAuthorityChecked", { account: A, authority: B, newAuthority: C }),
    );
    const closed = { account: A, recipient: B, authority: C };
    expect(upgradeable([A, B, C], u32(5))).toEqual(loader("close", { ...closed, programAccount: null }));
    expect(upgradeable([A, B, C, D], u32(5))).toEqual(loader("close", { ...closed, programAccount: D }));
  });
});
