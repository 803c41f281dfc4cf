/** Makes a thing at the first demand and once; a failure is told to whoever asked and tried again at the next demand. */
export function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make().catch((fault: unknown) => {
      made = null;
      throw fault;
    });
    return made;
  };
}
