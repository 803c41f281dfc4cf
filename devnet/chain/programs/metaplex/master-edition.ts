import { RECORD, RUNTIME_ERRORS } from "../runtime.ts";
import { MASTER_EDITION_BYTES, MASTER_EDITION_KEY, METADATA_ERRORS, TOKEN_STANDARD } from "./layout.ts";
import type { MetadataWriter } from "./metadata-writer.ts";

const AT = { edition: 0, mint: 1, updateAuthority: 2, mintAuthority: 3, payer: 4, metadata: 5, token: 6, system: 7 };
const SET_AUTHORITY = 6;
const SUPPLY = 36;
const DECIMALS = 44;
const FREEZE_AUTHORITY = 46;

/** Hands an authority of the mint (0 over units, 1 over freezing) to the edition. */
function handOver(program: MetadataWriter, kind: 0 | 1, data: number): void {
  const { writer, invoker } = program;
  const { asm } = writer;
  asm.store(1, "r9", data, SET_AUTHORITY);
  asm.store(1, "r9", data + 1, kind);
  asm.store(1, "r9", data + 2, 1);
  writer.account("r1", AT.edition);
  for (let word = 0; word < 32; word += 8) {
    asm.load(8, "r2", "r1", RECORD.key + word);
    asm.store(8, "r9", data + 3 + word, "r2");
  }
  invoker.invoke({
    program: AT.token,
    accounts: [
      { account: AT.mint, writes: true },
      { account: AT.mintAuthority, signs: true },
    ],
    data: { slot: data, length: 35 },
  });
}

/** CreateMasterEditionV3 (tag 17): max_supply as an option of u64. From then on nobody mints more units. */
export function createMasterEdition(program: MetadataWriter): void {
  const { writer, maker } = program;
  const { asm } = writer;
  const data = writer.slot(35);
  const [limitless, thawed] = [asm.label("no limit"), asm.label("no freeze authority")];
  writer.log("IX: Create Master Edition v3");
  writer.requireAccounts(8);
  writer.requireData(2);
  writer.requireTokenProgram(AT.token);
  program.requireMintAuthority(AT.mint, AT.mintAuthority);
  writer.account("r1", AT.mint);
  const single = writer.failure(METADATA_ERRORS.editionsMustHaveExactlyOneToken);
  asm.load(8, "r2", "r1", RECORD.data + SUPPLY);
  asm.branch("ne", "r2", 1, single);
  asm.load(1, "r2", "r1", RECORD.data + DECIMALS);
  asm.branch("ne", "r2", 0, single);
  program.openMetadata(AT.metadata, AT.mint);
  program.requireUpdateAuthority(AT.updateAuthority);
  const seeds = program.editionSeeds(AT.mint);
  maker.requireAddress(AT.edition, seeds);
  maker.create({ payer: AT.payer, account: AT.edition, system: AT.system, bytes: MASTER_EDITION_BYTES, seeds });
  writer.account("r1", AT.edition);
  asm.store(1, "r1", RECORD.data, MASTER_EDITION_KEY);
  writer.data("r2");
  asm.load(1, "r3", "r2", 1);
  asm.branch("eq", "r3", 0, limitless);
  asm.branch("ne", "r3", 1, writer.failure(RUNTIME_ERRORS.invalidInstructionData));
  writer.requireData(10);
  writer.account("r1", AT.edition);
  asm.store(1, "r1", RECORD.data + 9, 1);
  asm.load(8, "r3", "r2", 2);
  asm.store(8, "r1", RECORD.data + 10, "r3");
  asm.place(limitless);
  writer.account("r1", AT.metadata);
  program.toTokenStandard();
  asm.store(1, "r1", 0, 1);
  asm.store(1, "r1", 1, TOKEN_STANDARD.nonFungible);
  handOver(program, 0, data);
  writer.account("r1", AT.mint);
  asm.load(4, "r2", "r1", RECORD.data + FREEZE_AUTHORITY);
  asm.branch("eq", "r2", 0, thawed);
  handOver(program, 1, data);
  asm.place(thawed);
}
