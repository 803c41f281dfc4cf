/**
 * processes: children of the server that do what may abort or grow: they are started, waited for, restarted with a
 * bounded backoff when they die, and ended with their parent.
 * Fed by compose and by the rooms that own a child; feeds observe with each restart.
 */
export { type ChildOptions, type SupervisedChild, superviseChild } from "./supervise.ts";
