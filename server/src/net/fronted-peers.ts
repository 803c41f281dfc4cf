/**
 * The clients whose connections come through a front of this process: a listener behind a front sees connections from
 * loopback, and knows by their port whose they are. An entry stays until its port is used again, since a request may be
 * read after its client has gone; so there are never more than there are ports.
 */
export class FrontedPeers {
  readonly #byPort = new Map<number, string>();
  readonly #open = new Set<number>();

  /**
   * Notes whose connection comes from a port. False while another connection has that port: the system gives one port
   * to connections with different destinations, which several fronts of one listener have.
   */
  claim(port: number, address: string): boolean {
    if (this.#open.has(port)) return false;
    this.#open.add(port);
    this.#byPort.set(port, address);
    return true;
  }

  /** The connection from this port has ended; whose it was stays known. */
  release(port: number): void {
    this.#open.delete(port);
  }

  /** The client's address, for a connection that comes from `address` and `port` of this machine. */
  addressOf(address: string, port: number): string {
    return (address === frontHost ? this.#byPort.get(port) : undefined) ?? address;
  }
}

/** Where listeners behind a front listen, and fronts call them from. */
export const frontHost = "127.0.0.1";
