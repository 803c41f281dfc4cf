const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** Writes bytes as base58 in the Bitcoin alphabet. Quadratic in the length: for keys, signatures and packets. */
export function encodeBase58(bytes: Uint8Array): string {
  let zeros = 0;
  while (zeros < bytes.length && bytes[zeros] === 0) zeros += 1;
  const digits: number[] = [];
  for (let position = zeros; position < bytes.length; position += 1) {
    let carry = bytes[position] ?? 0;
    for (let place = 0; place < digits.length; place += 1) {
      carry += (digits[place] ?? 0) << 8;
      digits[place] = carry % 58;
      carry = Math.floor(carry / 58);
    }
    while (carry > 0) {
      digits.push(carry % 58);
      carry = Math.floor(carry / 58);
    }
  }
  let text = "1".repeat(zeros);
  for (let place = digits.length - 1; place >= 0; place -= 1) text += ALPHABET.charAt(digits[place] ?? 0);
  return text;
}
