/**
 * What groups cost that are in no one's way: one process that makes 100,000 groups, has 10,000 members join ten each,
 * publishes to all of them in one turn, and has all leave. The members' sockets take everything and send nothing.
 */
import { ClientSession, FanOut, type FrameGroup } from "../../server/src/net/index.ts";

const groupCount = 100_000;
const memberCount = 10_000;
const joinsEach = 10;

class Session extends ClientSession {
  constructor() {
    super("req_1", null);
  }
  protected onOpened(): void {}
  protected onClosed(): void {}
  override join(group: FrameGroup): void {
    super.join(group);
  }
}

let writes = 0;
const socket = {
  send: () => 1,
  sendBatch: () => {
    writes += 1;
  },
  close: () => undefined,
  terminate: () => undefined,
  ping: () => 1,
  getBufferedAmount: () => 0,
};

/** Bytes in use behind a full collection. */
function heldBytes(): number {
  Bun.gc(true);
  return process.memoryUsage().heapUsed;
}

const fanOut = new FanOut({ failed: (error) => console.error(error) });
const emptyBytes = heldBytes();
const groups = Array.from({ length: groupCount }, (_, index) => fanOut.group(`group-${index}`));
const sessions = Array.from({ length: memberCount }, () => new Session());
for (const session of sessions) session.opened(socket);
const madeBytes = heldBytes();

/** Microseconds of CPU. */
const timed = (work: () => void): number => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
};
const joinTotal = timed(() => {
  sessions.forEach((session, index) => {
    for (let at = 0; at < joinsEach; at += 1) {
      const group = groups[(index * joinsEach + at * 7_919) % groupCount];
      if (group !== undefined) session.join(group);
    }
  });
});
const joinedBytes = heldBytes();
const publish = (): number =>
  timed(() => {
    for (const group of groups) group.publish("x".repeat(300));
    fanOut.endTurn();
  });
publish();
writes = 0;
const publishTotal = publish();
const leaveTotal = timed(() => {
  for (const session of sessions) session.closed();
});
const joins = memberCount * joinsEach;
console.log(
  JSON.stringify({
    groupBytes: (madeBytes - emptyBytes) / (groupCount + memberCount),
    joinBytes: (joinedBytes - madeBytes) / joins,
    joinMicros: joinTotal / joins,
    publishMicros: publishTotal / joins,
    writes,
    leaveMicros: leaveTotal / joins,
  }),
);
