import type { AccountWrite } from "@sluice/svm/bank";
import { ByteWriter } from "@sluice/wire/bytes";
import { programs } from "@sluice/wire/programs";
import { bytesOf, type ChainAccount, derive } from "../model/index.ts";
import { rentFree } from "./ledger.ts";

/** The accounts of programs as their loaders keep them. */

/** Bytes before the ELF file in a program's data account. Source: UpgradeableLoaderState. */
const programDataHeader = 45;
const state = { program: 2, programData: 3 } as const;

export type Loader = "upgradeable" | "loader-2";

function executable(account: ChainAccount): ChainAccount {
  return { ...account, executable: true };
}

/** Where the upgradeable loader keeps a program's file. */
export function programDataAddress(program: string): string {
  return derive([bytesOf(program)], programs.bpfLoaderUpgradeable).address;
}

/** A program at an address, deployed in slot 0; without an authority it cannot be replaced. */
export function programAccounts(
  program: string,
  elf: Uint8Array,
  how: { readonly loader: Loader; readonly authority: Uint8Array | null } = { loader: "upgradeable", authority: null },
): readonly AccountWrite[] {
  if (how.loader === "loader-2") return [{ address: program, account: executable(rentFree(programs.bpfLoader, elf)) }];
  const header = new ByteWriter()
    .u32(state.programData)
    .u64(0n)
    .u8(how.authority === null ? 0 : 1);
  const data = new ByteWriter().bytes(header.bytes(how.authority ?? new Uint8Array(32)).finish(programDataHeader));
  const address = programDataAddress(program);
  const pointer = new ByteWriter().u32(state.program).bytes(bytesOf(address)).finish();
  return [
    { address, account: rentFree(programs.bpfLoaderUpgradeable, data.bytes(elf).finish()) },
    { address: program, account: executable(rentFree(programs.bpfLoaderUpgradeable, pointer)) },
  ];
}

/** Where a program's account says that its file lies; null for any other account. */
export function programDataOf(account: ChainAccount): Uint8Array | null {
  const { owner, data } = account;
  if (owner !== programs.bpfLoaderUpgradeable || data.length < 36 || data[0] !== state.program) return null;
  return data.subarray(4, 36);
}

/** Accounts by address, later ones in place of earlier ones, programs behind the files that they run. */
export function mergeAccounts(...lists: readonly (readonly AccountWrite[])[]): readonly AccountWrite[] {
  const byAddress = new Map(lists.flat().map((write) => [write.address, write]));
  const all = [...byAddress.values()];
  const isProgram = ({ account }: AccountWrite) => account?.executable === true;
  return [...all.filter((write) => !isProgram(write)), ...all.filter(isProgram)];
}
