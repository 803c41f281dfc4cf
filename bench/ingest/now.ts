/** Milliseconds by a clock that the processes of a machine share, in fractions. */
export const now = (): number => performance.timeOrigin + performance.now();
