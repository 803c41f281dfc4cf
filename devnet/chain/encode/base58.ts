import { encodeBase58 as encodeBounded, maxBase58Bytes } from "@sluice/wire";

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** Digits of `value` in base 58, at least `width` of them; halves of the digits are found by halves of the value. */
function digits(value: bigint, width: number): string {
  if (width <= 8) {
    let rest = Number(value);
    let text = "";
    for (let place = 0; place < width; place += 1) {
      text = ALPHABET.charAt(rest % 58) + text;
      rest = Math.floor(rest / 58);
    }
    return text;
  }
  const low = width >> 1;
  const unit = 58n ** BigInt(low);
  return digits(value / unit, width - low) + digits(value % unit, low);
}

/**
 * Writes bytes as base58. Data that one program hands another may have 10 KiB, which is more than the codec takes that
 * reads what strangers send, so longer data are cut in halves here.
 */
export function encodeBase58(bytes: Uint8Array): string {
  if (bytes.length <= maxBase58Bytes) return encodeBounded(bytes);
  let zeros = 0;
  while (zeros < bytes.length && bytes[zeros] === 0) zeros += 1;
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset + zeros, bytes.length - zeros).toString("hex");
  const text = hex === "" ? "" : digits(BigInt(`0x${hex}`), Math.ceil((bytes.length - zeros) * 1.3658));
  return "1".repeat(zeros) + text.replace(/^1+/, "");
}
