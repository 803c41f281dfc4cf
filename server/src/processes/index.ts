/**
 * processes: child processes of the server, for work that may abort or exhaust memory. They are started, awaited,
 * restarted with a bounded backoff, and ended with their parent. Fed by compose and by the rooms that own a child;
 * feeds observe with each restart.
 */
export { type ChildExit, type SupervisedChild, superviseChild } from "./supervise.ts";
