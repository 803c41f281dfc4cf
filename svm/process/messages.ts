/**
 * What every machine's process and its parent say to each other, over a Unix socket. Each frame is a u32 length, a kind and
 * its fields, little-endian. Other kinds are the machine's own and begin at 1; a request is answered by one frame, and
 * answers come in the order of the requests.
 */

/** From the child, once in each life: its process id as a u32. */
export const helloKind = 0;

/** The line that a child prints on its standard output when it is connected. */
export const readyLine = '{"ready":true}';
