/** Small memory may be a part of the runtime's pool (8 KiB), which others use. */
const freedBytesMin = 16 * 1024;

/**
 * Gives memory back that nobody reads any more, at once: left to the collector the buffers of the socket's reads add up to
 * 70 MB in the first 200 MB of a process. Only for memory of one's own, such as what a socket's read has brought.
 */
export function free(bytes: Uint8Array): void {
  const { buffer } = bytes;
  if (buffer instanceof ArrayBuffer && buffer.byteLength > freedBytesMin && !buffer.detached) buffer.transfer(0);
}
