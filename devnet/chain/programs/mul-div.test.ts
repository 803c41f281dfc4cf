import { expect, test } from "bun:test";
import { TextRandom } from "../../random.ts";
import { MulDiv } from "./mul-div.ts";
import { ProgramWriter } from "./program-writer.ts";
import { ProgramRun } from "./testing/run-program.ts";

const most = 0xffff_ffff_ffff_ffffn;

/** A program that answers a * b / c of its data, rounded up when the last byte is not 0. */
function program(): Uint8Array {
  const writer = new ProgramWriter();
  const { asm } = writer;
  const arithmetic = new MulDiv(writer);
  const [a, b, c, result] = [writer.slot(), writer.slot(), writer.slot(), writer.slot()];
  writer.requireData(25);
  for (const [index, slot] of [a, b, c].entries()) writer.argument(8, index * 8, slot);
  const [up, answer] = [asm.label("up"), asm.label("answer")];
  writer.data("r1");
  asm.load(1, "r1", "r1", 24);
  asm.branch("ne", "r1", 0, up);
  arithmetic.quotient(a, b, c, result, "down");
  asm.jump(answer);
  asm.place(up);
  arithmetic.quotient(a, b, c, result, "up");
  asm.place(answer);
  asm.mov("r1", "r9");
  asm.add("r1", result);
  asm.mov("r2", 8);
  asm.syscall("sol_set_return_data");
  writer.succeed();
  return writer.finish();
}

test("products of 128 bits are divided exactly, down and up, and what does not fit is ArithmeticOverflow", async () => {
  const run = await ProgramRun.of(program());
  const draw = new TextRandom("mul-div");
  const edges = [0n, 1n, 2n, 0xffff_ffffn, 0x1_0000_0000n, 0x7fff_ffff_ffff_ffffn, most - 1n, most];
  const number = (): bigint => {
    if (draw.next() < 0.3) return draw.pick(edges) ?? 0n;
    const bits = BigInt(draw.below(65));
    return ((BigInt(draw.below(2 ** 32)) << 32n) | BigInt(draw.below(2 ** 32))) >> (64n - bits);
  };
  const seen = { fits: 0, overflows: 0 };
  for (let count = 0; count < 1_500; count += 1) {
    const [a, b, c, up] = [number(), number(), number(), draw.below(2)];
    const data = Buffer.alloc(25);
    for (const [index, value] of [a, b, c].entries()) data.writeBigUInt64LE(value, index * 8);
    data.writeUInt8(up, 24);
    const outcome = await run.call(data);
    const expected = c === 0n ? most + 1n : (a * b + (up === 1 ? c - 1n : 0n)) / c;
    if (expected > most) {
      expect(outcome.error).toEqual({ InstructionError: [0, "ArithmeticOverflow"] });
      seen.overflows += 1;
      continue;
    }
    expect(outcome.error).toBeNull();
    // The runtime strips zeros at the end of return data only in what it shows; here they are kept or padded.
    const answered = Buffer.alloc(8);
    answered.set(outcome.returnData?.data ?? new Uint8Array());
    expect(answered.readBigUInt64LE()).toBe(expected);
    seen.fits += 1;
  }
  expect(Math.min(seen.fits, seen.overflows)).toBeGreaterThan(200);
}, 60_000);
