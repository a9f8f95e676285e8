export { RemoteBroker } from "./broker.js";
export * from "./consumers.js";
export * from "./errors.js";
export { Rule, type ConnectionSelection, type RequestSelection } from "./faults.js";
export type { JournalFilter } from "./parts.js";
export type * from "./rules.js";
export type * from "./state.js";
export * from "./verdict.js";
export type { Bytes } from "./wire.js";
