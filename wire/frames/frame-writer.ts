import { ByteWriter } from "../bytes.ts";

const initialBytes = 64 * 1_024;
/** A buffer that one large account has grown beyond this is not kept. */
const keptBytesMax = 4 * 1_024 * 1_024;

/** Bytes of the head: the length of what follows it, a u32, and the kind of the frame. */
export const frameHeadBytes = 5;

/** Writes frames one behind the other into a buffer that is used again. */
export class FrameWriter extends ByteWriter {
  /** Where the frame under way begins, which is where the last whole one ends. */
  #start = 0;

  constructor() {
    super(initialBytes);
  }

  /** Begins a frame. One that was begun and not ended, since what was to be written could not be, is dropped. */
  begin(kind: number): this {
    this.truncate(this.#start);
    return this.u32(0).u8(kind);
  }

  /** Ends the frame: writes its length into its head. */
  end(): this {
    this.setU32(this.#start, this.length - this.#start - frameHeadBytes);
    this.#start = this.length;
    return this;
  }

  /** A copy of the frames that were ended since the last `take`. The writer is empty then. */
  take(): Uint8Array {
    const taken = this.copy(this.#start);
    this.#start = 0;
    this.reset(initialBytes, keptBytesMax);
    return taken;
  }
}
