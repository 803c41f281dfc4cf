import { type ConfirmedBlock, packBlock, unpackOnce } from "@sluice/encode";
import { MalformedBytes } from "@sluice/wire/bytes";
import type { BlockHeader } from "../../log/index.ts";

/** A block of the flow, with what has been made of it for clients: each form once, for all who ask for it. */
export class FlowBlock {
  readonly header: BlockHeader;
  readonly block: ConfirmedBlock;
  #body: Uint8Array | null;
  readonly #forms = new Map<unknown, unknown>();

  constructor(header: BlockHeader, block: ConfirmedBlock, body: Uint8Array | null = null) {
    this.header = header;
    this.block = block;
    this.#body = body;
  }

  /** As the log holds it, or would hold it; shared, and not to be changed. */
  get body(): Uint8Array {
    this.#body ??= packBlock(this.block);
    return this.#body;
  }

  /** What `make` gives of the block. It is called once a block, so it is one function for all who share the form. */
  form<Form>(make: (block: FlowBlock) => Form): Form {
    const known = this.#forms.get(make);
    // Only what `make` gave is stored under it.
    if (known !== undefined) return known as Form;
    const form = make(this);
    this.#forms.set(make, form);
    return form;
  }
}

/** A decoded block takes several times the memory of its body: only the newest that were asked for are kept. */
const keptMax = { blocks: 16, bodyBytes: 48 * 1024 * 1024 } as const;

interface KeptBlock {
  readonly block: FlowBlock;
  readonly bodyBytes: number;
}

/** Decoded blocks by their hashes, shared by the stages of a network and by those who resume at the same place. */
export class FlowBlocks {
  readonly #kept = new Map<string, KeptBlock>();
  #bodyBytes = 0;

  /** @throws {MalformedBytes} when the body is not that of the block */
  of(header: BlockHeader, body: Uint8Array): FlowBlock {
    const known = this.#known(header);
    if (known !== undefined) return known;
    const decoded = unpackOnce(body);
    if (decoded.slot !== header.slot || decoded.blockhash !== header.blockhash) {
      throw new MalformedBytes("the body is of another block");
    }
    const block = new FlowBlock(header, decoded, body);
    this.#keep({ block, bodyBytes: body.length });
    return block;
  }

  /** The same of a block that is decoded already. */
  ofDecoded(header: BlockHeader, decoded: ConfirmedBlock): FlowBlock {
    const known = this.#known(header);
    if (known !== undefined) return known;
    const block = new FlowBlock(header, decoded);
    const bodyBytes = decoded.transactions.reduce((bytes, transaction) => bytes + transaction.bytes.length, 0);
    this.#keep({ block, bodyBytes });
    return block;
  }

  #known({ blockhash }: BlockHeader): FlowBlock | undefined {
    const known = this.#kept.get(blockhash);
    if (known === undefined) return undefined;
    this.#kept.delete(blockhash);
    this.#kept.set(blockhash, known);
    return known.block;
  }

  #keep(kept: KeptBlock): void {
    this.#kept.set(kept.block.header.blockhash, kept);
    this.#bodyBytes += kept.bodyBytes;
    for (const [hash, { bodyBytes }] of this.#kept) {
      const isWithin = this.#kept.size <= keptMax.blocks && this.#bodyBytes <= keptMax.bodyBytes;
      if (isWithin || this.#kept.size === 1) return;
      this.#kept.delete(hash);
      this.#bodyBytes -= bodyBytes;
    }
  }
}
