import type { MetadataWriter } from "./metadata-writer.ts";

const at = { metadata: 0, owner: 1, mint: 2, account: 3, edition: 4, token: 5 };
const token = { burn: 8, closeAccount: 9 } as const;

/** BurnNft (tag 29): the unit is burned, and token account, metadata and edition give their rent to the owner. */
export function burnNft(program: MetadataWriter): void {
  const { writer, invoker, maker } = program;
  const { asm } = writer;
  const data = writer.slot(9);
  writer.log("IX: Burn NFT");
  writer.requireAccounts(6);
  writer.requireSigner(at.owner);
  writer.requireTokenProgram(at.token);
  program.openMetadata(at.metadata, at.mint);
  maker.requireAddress(at.edition, program.editionSeeds(at.mint));
  writer.requireOwned(at.edition);
  asm.store(1, "r9", data, token.burn);
  asm.store(8, "r9", data + 1, 1);
  invoker.invoke({
    program: at.token,
    accounts: [
      { account: at.account, writes: true },
      { account: at.mint, writes: true },
      { account: at.owner, signs: true },
    ],
    data: { slot: data, length: 9 },
  });
  asm.store(1, "r9", data, token.closeAccount);
  invoker.invoke({
    program: at.token,
    accounts: [
      { account: at.account, writes: true },
      { account: at.owner, writes: true },
      { account: at.owner, signs: true },
    ],
    data: { slot: data, length: 1 },
  });
  maker.close(at.metadata, at.owner);
  maker.close(at.edition, at.owner);
}
